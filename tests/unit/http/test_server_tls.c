// Everything that test_server.c says, over TLS.
#define HTTP_TLS
#include "http/test_server.c"
