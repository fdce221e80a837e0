// Everything that test_taken.c says, over TLS.
#define HTTP_TLS
#include "http/test_taken.c"
