// The words that PartiQL keeps for itself: those of SQL-92 and its own. As an attribute's name they
// must be quoted.
#include "partiql/lexer.h"

#include <stdlib.h>

// clang-format off
static const char *const reserved[] = { // sorted
    "ABSOLUTE", "ACTION", "ADD", "ALL", "ALLOCATE", "ALTER", "AND", "ANY", "ARE", "AS", "ASC",
    "ASSERTION", "AT", "AUTHORIZATION", "AVG", "BAG", "BEGIN", "BETWEEN", "BIT", "BLOB", "BOOL",
    "BOOLEAN", "BY", "CASCADE", "CASCADED", "CASE", "CAST", "CATALOG", "CHAR", "CHARACTER", "CHECK",
    "CLOB", "CLOSE", "COALESCE", "COLLATE", "COLLATION", "COLUMN", "COMMIT", "CONFLICT", "CONNECT",
    "CONNECTION", "CONSTRAINT", "CONSTRAINTS", "CONTINUE", "CONVERT", "CORRESPONDING", "COUNT",
    "CREATE", "CROSS", "CURRENT", "CURSOR", "DATE", "DATE_ADD", "DATE_DIFF", "DEALLOCATE", "DEC",
    "DECIMAL", "DECLARE", "DEFAULT", "DEFERRABLE", "DEFERRED", "DELETE", "DESC", "DESCRIBE",
    "DESCRIPTOR", "DIAGNOSTICS", "DISCONNECT", "DISTINCT", "DO", "DOMAIN", "DOUBLE", "DROP", "ELSE",
    "END", "ESCAPE", "EXCEPT", "EXCEPTION", "EXEC", "EXECUTE", "EXISTS", "EXTERNAL", "EXTRACT",
    "FALSE", "FETCH", "FIRST", "FLOAT", "FOR", "FOREIGN", "FOUND", "FROM", "FULL", "GET", "GLOBAL",
    "GO", "GOTO", "GRANT", "GROUP", "HAVING", "IDENTITY", "IMMEDIATE", "IN", "INDEX", "INDICATOR",
    "INITIALLY", "INNER", "INPUT", "INSENSITIVE", "INSERT", "INT", "INTEGER", "INTERSECT",
    "INTERVAL", "INTO", "IS", "ISOLATION", "JOIN", "KEY", "LANGUAGE", "LAST", "LEFT", "LET",
    "LEVEL", "LIKE", "LIMIT", "LIST", "LOCAL", "LOWER", "MATCH", "MAX", "MIN", "MISSING",
    "MODIFIED", "MODULE", "NAMES", "NATIONAL", "NATURAL", "NCHAR", "NEW", "NEXT", "NO", "NOT",
    "NOTHING", "NULL", "NULLIF", "NUMERIC", "OF", "OLD", "ON", "ONLY", "OPEN", "OPTION", "OR",
    "ORDER", "OUTER", "OUTPUT", "OVERLAPS", "PAD", "PARTIAL", "PIVOT", "POSITION", "PRECISION",
    "PREPARE", "PRESERVE", "PRIMARY", "PRIOR", "PRIVILEGES", "PROCEDURE", "PUBLIC", "READ", "REAL",
    "REFERENCES", "RELATIVE", "REMOVE", "RESTRICT", "RETURNING", "REVOKE", "RIGHT", "ROLLBACK",
    "ROWS", "SCHEMA", "SCROLL", "SECTION", "SELECT", "SESSION", "SET", "SEXP", "SIZE", "SMALLINT",
    "SOME", "SPACE", "SQL", "SQLCODE", "SQLERROR", "SQLSTATE", "STRING", "STRUCT", "SUBSTRING",
    "SUM", "SYMBOL", "TABLE", "TEMPORARY", "THEN", "TIME", "TIMESTAMP", "TO", "TRANSACTION",
    "TRANSLATE", "TRANSLATION", "TRIM", "TRUE", "TUPLE", "UNION", "UNIQUE", "UNKNOWN", "UNPIVOT",
    "UPDATE", "UPPER", "USAGE", "USER", "USING", "VALUE", "VALUES", "VARCHAR", "VARYING", "VIEW",
    "WHEN", "WHENEVER", "WHERE", "WITH", "WORK", "WRITE", "ZONE",
};
// clang-format on

enum { LONGEST = 16 };

static int compare_word(const void *key, const void *row)
{
    return strcmp(key, *(const char *const *)row);
}

bool pql_reserved(struct slice word)
{
    char upper[LONGEST];
    if (word.len >= sizeof(upper))
        return false;
    for (size_t i = 0; i < word.len; i++) {
        uint8_t c = word.ptr[i];
        upper[i] = (char)(c >= 'a' && c <= 'z' ? c - ('a' - 'A') : c);
    }
    upper[word.len] = 0;
    return bsearch(upper, reserved, COUNT_OF(reserved), sizeof(reserved[0]), compare_word) != NULL;
}
