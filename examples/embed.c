// How to have a DynamoDB table inside a program: opens a database in memory, makes a table,
// puts an item and gets it back. With a directory as `.path` it would be on disk.
//
//     cc embed.c $(pkg-config --cflags --libs dolmen) -o embed
#include <dolmen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const create_table =
    "{\"TableName\": \"stones\","
    " \"AttributeDefinitions\": [{\"AttributeName\": \"site\", \"AttributeType\": \"S\"},"
    "                          {\"AttributeName\": \"name\", \"AttributeType\": \"S\"}],"
    " \"KeySchema\": [{\"AttributeName\": \"site\", \"KeyType\": \"HASH\"},"
    "               {\"AttributeName\": \"name\", \"KeyType\": \"RANGE\"}],"
    " \"BillingMode\": \"PAY_PER_REQUEST\"}";

static const char *const put_item =
    "{\"TableName\": \"stones\", \"Item\": {\"site\": {\"S\": \"Carnac\"},"
    " \"name\": {\"S\": \"Giant of Manio\"}, \"height\": {\"N\": \"6.5\"}}}";

static const char *const get_item =
    "{\"TableName\": \"stones\", \"Key\": {\"site\": {\"S\": \"Carnac\"},"
    " \"name\": {\"S\": \"Giant of Manio\"}}}";

// Executes one operation, prints it with its answer, and returns the answer; the caller frees it.
static struct dolmen_response call(dolmen *db, const char *operation, const char *request)
{
    struct dolmen_response response;
    dolmen_call(db, operation, request, strlen(request), &response);
    printf("%s -> %d %s\n", operation, response.status, response.body);
    if (response.status != 200)
        exit(1);
    return response;
}

int main(void)
{
    char error[256];
    dolmen *db;
    struct dolmen_options options = {.path = NULL};
    if (dolmen_open(&options, &db, error, sizeof(error)) != DOLMEN_OK) {
        fprintf(stderr, "cannot open: %s\n", error);
        return 1;
    }

    struct dolmen_response response = call(db, "CreateTable", create_table);
    dolmen_response_free(&response);
    response = call(db, "PutItem", put_item);
    dolmen_response_free(&response);
    response = call(db, "GetItem", get_item);
    int found = strstr(response.body, "\"height\":{\"N\":\"6.5\"}") != NULL;
    dolmen_response_free(&response);

    dolmen_close(db);
    printf("libdolmen %s: %s\n", dolmen_version(), found ? "the item is there" : "no such item");
    return found ? 0 : 1;
}
