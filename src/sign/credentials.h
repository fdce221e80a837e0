// Credentials where AWS's own programs look for them: in the environment, and in files as
// ~/.aws/credentials.
#ifndef SIGN_CREDENTIALS_H
#define SIGN_CREDENTIALS_H

#include "sign/sign.h"

enum { SIGN_SECRET_MAX = 2048 };

// The keys are slices of the texts, so it stays where it is.
struct sign_credentials {
    char access_key[SIGN_SECRET_MAX];
    char secret_key[SIGN_SECRET_MAX];
    char token[SIGN_SECRET_MAX];
    struct sign_keys keys;
};

// Copies them; false if there is no key or no secret, or if they cannot stand in a header.
MUST_CHECK bool sign_credentials_set(struct sign_credentials *out, const struct sign_keys *keys);

// What the user has named, and so has to be there; NULL for what was not.
struct sign_source {
    const char *file;
    const char *profile;
};

enum sign_found {
    CREDENTIALS_FOUND,
    CREDENTIALS_NONE,  // nobody has said where they are, and they are not at the usual places
    CREDENTIALS_WRONG, // they are not where they were said to be: a sentence is in `error`
};

// With a file or a profile named, those of it; else those of AWS_ACCESS_KEY_ID,
// AWS_SECRET_ACCESS_KEY and AWS_SESSION_TOKEN; else those of AWS_SHARED_CREDENTIALS_FILE or
// ~/.aws/credentials. The profile is AWS_PROFILE or "default" if none is named. No secret is ever
// in the error.
MUST_CHECK enum sign_found sign_credentials_find(const struct sign_source *source,
                                                 struct sign_credentials *out, char *error,
                                                 size_t error_size);
void sign_credentials_wipe(struct sign_credentials *credentials);

#endif
