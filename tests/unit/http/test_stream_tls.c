// Everything that test_stream.c says, over TLS.
#define HTTP_TLS
#include "http/test_stream.c"
