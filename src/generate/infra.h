// Words of the AWS API for the settings of a model's table, for Terraform and CloudFormation.
#ifndef GENERATE_INFRA_H
#define GENERATE_INFRA_H

#include "generate/text.h"
#include "generate/walk.h"

static inline const char *infra_projection(enum model_projection projection)
{
    static const char *const words[] = {"ALL", "KEYS_ONLY", "INCLUDE"};
    return words[projection];
}

// NULL if there is no stream.
static inline const char *infra_stream(enum model_stream stream)
{
    static const char *const words[] = {NULL, "KEYS_ONLY", "NEW_IMAGE", "OLD_IMAGE",
                                        "NEW_AND_OLD_IMAGES"};
    return words[stream];
}

#endif
