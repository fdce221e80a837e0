// Small documents: what is read, what is refused, and that no cut or changed document is read past
// its end.
#include "objects/xml.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

static const char good[] = "<?xml version=\"1.0\"?>\n<!-- note -->\n"
                           "<a:Delete xmlns:a='x'><Quiet>true</Quiet><Object><Key>a&lt;b&#x41;&#66;"
                           "&amp;\r\n</Key></Object><Empty/><Object b=\"c\"/></a:Delete>\n";

static void test_read(void **state)
{
    (void)state;
    struct arena arena;
    arena_init(&arena, 1 << 20);
    const struct xml *root = xml_read(slice_str(good), &arena);
    assert_non_null(root);
    assert_true(slice_is(root->name, "Delete"));
    assert_true(slice_is(xml_text(root, "Quiet"), "true"));
    const struct xml *object = xml_find(root->children, "Object");
    assert_true(slice_is(xml_text(object, "Key"), "a<bAB&\n"));
    object = xml_find(object->next, "Object");
    assert_non_null(object);
    assert_null(object->children);
    assert_null(xml_find(object->next, "Object"));
    assert_int_equal(xml_text(root, "None").len, 0);
    arena_release(&arena);
}

static void test_refused(void **state)
{
    (void)state;
    static const char *const bad[] = {
        "",
        "a",
        "<a>",
        "<a></b>",
        "<a/><b/>",
        "<a/>x",
        "x<a/>",
        "<a><b></a></b>",
        "</a>",
        "<!DOCTYPE a [<!ENTITY x \"y\">]><a>&x;</a>",
        "<a>&x;</a>",
        "<a>&#0;</a>",
        "<a>&#xD800;</a>",
        "<a>&lt</a>",
        "<a>&#99999999;</a>",
        "<a><![CDATA[x]]></a>",
        "<a><?php ?></a>",
        "<a b=c/>",
        "<a b/>",
        "<a b=\"c/>",
        "<a>\x01</a>",
        "<a>\xff</a>",
        "< a/>",
        "<a",
        "<a/",
        "<>x</>",
        "<a><b><c><d><e><f><g><h><i><j><k><l><m/></l></k></j></i></h></g></f></e></d></c></b></a>",
    };
    for (size_t i = 0; i < COUNT_OF(bad); i++) {
        struct arena arena;
        arena_init(&arena, 1 << 20);
        if (xml_read(slice_str(bad[i]), &arena) != NULL)
            fail_msg("'%s' was read", bad[i]);
        arena_release(&arena);
    }
}

// In memory of the exact size, so that a sanitizer sees an overrun.
static void read_copy(const char *text, size_t len)
{
    struct arena arena;
    char *copy = malloc(len + 1);
    memcpy(copy, text, len);
    arena_init(&arena, 1 << 20);
    const struct xml *root = xml_read(slice_of(copy, len), &arena);
    (void)root;
    arena_release(&arena);
    free(copy);
}

static void test_mutations(void **state)
{
    (void)state;
    unsigned random = 7;
    for (size_t len = 0; len < sizeof(good); len++)
        read_copy(good, len);
    for (int i = 0; i < 20000; i++) {
        char text[sizeof(good)];
        memcpy(text, good, sizeof(good));
        for (int k = 0; k < 3; k++) {
            random = random * 1103515245 + 12345;
            text[(random >> 8) % (sizeof(good) - 1)] = "<>&;/\"'=!-?x\0 #\xc3"[random >> 28];
        }
        read_copy(text, sizeof(good) - 1);
    }
}

static void test_many(void **state)
{
    (void)state;
    struct arena arena;
    struct buf text;
    buf_init(&text, 4 << 20);
    arena_init(&arena, 64 << 20);
    buf_text(&text, "<a>");
    for (int i = 0; i < XML_NODES; i++)
        buf_text(&text, "<b/>");
    buf_text(&text, "</a>");
    assert_null(xml_read(buf_view(&text), &arena));
    buf_release(&text);
    arena_release(&arena);
}

static void test_write(void **state)
{
    (void)state;
    struct buf out;
    buf_init(&out, 1 << 10);
    xml_put(&out, "Key", slice_of("a<b>&\"\r\n\x01\xff", 10));
    xml_put_number(&out, "Size", 5);
    xml_put_time(&out, "At", 0);
    static const char wanted[] = "<Key>a&lt;b&gt;&amp;&quot;&#xD;\n\xef\xbf\xbd\xef\xbf\xbd</Key>"
                                 "<Size>5</Size><At>1970-01-01T00:00:00.000Z</At>";
    assert_int_equal(out.len, sizeof(wanted) - 1);
    assert_memory_equal(out.ptr, wanted, out.len);
    buf_release(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_read),      cmocka_unit_test(test_refused),
        cmocka_unit_test(test_mutations), cmocka_unit_test(test_many),
        cmocka_unit_test(test_write),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
