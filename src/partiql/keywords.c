// The words that PartiQL keeps for itself: those of SQL-92 and its own. As an attribute's name they
// must be quoted.
#include "partiql/lexer.h"

#include <stdlib.h>

// Each sorted.
// clang-format off
static const char *const operators[] = {
    "AND", "BETWEEN", "EXCEPT", "IN", "INTERSECT", "IS", "LIKE", "NOT", "OR", "UNION",
};
// What is a function if a parenthesis follows.
static const char *const functions[] = {
    "AVG", "BAG", "BIT_LENGTH", "CHARACTER_LENGTH", "CHAR_LENGTH", "COUNT", "EXISTS", "LIST",
    "LOWER", "MAX", "MIN", "OCTET_LENGTH", "SEXP", "SIZE", "SUM", "UPPER",
};
static const char *const others[] = {
    "ABSOLUTE", "ACTION", "ADD", "ALL", "ALLOCATE", "ALTER", "ANY", "ARE", "AS", "ASC", "ASSERTION",
    "AT", "AUTHORIZATION", "BEGIN", "BIGINT", "BIT", "BLOB", "BOOL", "BOOLEAN", "BY", "CAN_CAST",
    "CAN_LOSSLESS_CAST", "CASCADE", "CASCADED", "CASE", "CAST", "CATALOG", "CHAR", "CHARACTER",
    "CHECK", "CLOB", "CLOSE", "COALESCE", "COLLATE", "COLLATION", "COLUMN", "COMMIT", "CONFLICT",
    "CONNECT", "CONNECTION", "CONSTRAINT", "CONSTRAINTS", "CONTINUE", "CONVERT", "CORRESPONDING",
    "CREATE", "CROSS", "CURRENT", "CURRENT_DATE", "CURRENT_TIME", "CURRENT_TIMESTAMP",
    "CURRENT_USER", "CURSOR", "DATE", "DATE_ADD", "DATE_DIFF", "DEALLOCATE", "DEC", "DECIMAL",
    "DECLARE", "DEFAULT", "DEFERRABLE", "DEFERRED", "DELETE", "DESC", "DESCRIBE", "DESCRIPTOR",
    "DIAGNOSTICS", "DISCONNECT", "DISTINCT", "DO", "DOMAIN", "DOUBLE", "DROP", "ELSE", "END",
    "ESCAPE", "EXCEPTION", "EXEC", "EXECUTE", "EXTERNAL", "EXTRACT", "FALSE", "FETCH", "FIRST",
    "FLOAT", "FOR", "FOREIGN", "FOUND", "FROM", "FULL", "GET", "GLOBAL", "GO", "GOTO", "GRANT",
    "GROUP", "HAVING", "IDENTITY", "IMMEDIATE", "INDEX", "INDICATOR", "INITIALLY", "INNER", "INPUT",
    "INSENSITIVE", "INSERT", "INT", "INT2", "INT4", "INT8", "INTEGER", "INTEGER2", "INTEGER4",
    "INTEGER8", "INTERVAL", "INTO", "ISOLATION", "JOIN", "KEY", "LANGUAGE", "LAST", "LEFT", "LET",
    "LEVEL", "LIMIT", "LOCAL", "MATCH", "MISSING", "MODIFIED", "MODULE", "NAMES", "NATIONAL",
    "NATURAL", "NCHAR", "NEW", "NEXT", "NO", "NOTHING", "NULL", "NULLIF", "NUMERIC", "OF", "OLD",
    "ON", "ONLY", "OPEN", "OPTION", "ORDER", "OUTER", "OUTPUT", "OVERLAPS", "PAD", "PARTIAL",
    "PIVOT", "POSITION", "PRECISION", "PREPARE", "PRESERVE", "PRIMARY", "PRIOR", "PRIVILEGES",
    "PROCEDURE", "PUBLIC", "READ", "REAL", "REFERENCES", "RELATIVE", "REMOVE", "RESTRICT",
    "RETURNING", "REVOKE", "RIGHT", "ROLLBACK", "ROWS", "SCHEMA", "SCROLL", "SECTION", "SELECT",
    "SESSION", "SESSION_USER", "SET", "SMALLINT", "SOME", "SPACE", "SQL", "SQLCODE", "SQLERROR",
    "SQLSTATE", "STRING", "STRUCT", "SUBSTRING", "SYMBOL", "SYSTEM_USER", "TABLE", "TEMPORARY",
    "THEN", "TIME", "TIMESTAMP", "TO", "TRANSACTION", "TRANSLATE", "TRANSLATION", "TRIM", "TRUE",
    "TUPLE", "UNIQUE", "UNKNOWN", "UNPIVOT", "UPDATE", "USAGE", "USER", "USING", "VALUE", "VALUES",
    "VARCHAR", "VARYING", "VIEW", "WHEN", "WHENEVER", "WHERE", "WITH", "WORK", "WRITE", "ZONE",
};
// clang-format on

enum { LONGEST = 20 };

static int compare_word(const void *key, const void *row)
{
    return strcmp(key, *(const char *const *)row);
}

enum pql_word pql_word(struct slice word)
{
    static const struct {
        const char *const *words;
        size_t count;
        enum pql_word is;
    } lists[] = {
        {others, COUNT_OF(others), WORD_KEYWORD},
        {operators, COUNT_OF(operators), WORD_OPERATOR},
        {functions, COUNT_OF(functions), WORD_FUNCTION},
    };
    char upper[LONGEST];
    if (word.len >= sizeof(upper))
        return WORD_NAME;
    for (size_t i = 0; i < word.len; i++) {
        uint8_t c = word.ptr[i];
        upper[i] = (char)(c >= 'a' && c <= 'z' ? c - ('a' - 'A') : c);
    }
    upper[word.len] = 0;
    for (size_t i = 0; i < COUNT_OF(lists); i++) {
        if (bsearch(upper, lists[i].words, lists[i].count, sizeof(char *), compare_word) != NULL)
            return lists[i].is;
    }
    return WORD_NAME;
}
