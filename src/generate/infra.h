// Words of the AWS API for the settings of a model's table, for Terraform and CloudFormation.
#ifndef GENERATE_INFRA_H
#define GENERATE_INFRA_H

#include "generate/generate.h"
#include "write/walk.h"

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

static inline const char *infra_billing(const struct model_table *table)
{
    return table->provisioned ? "PROVISIONED" : "PAY_PER_REQUEST";
}

static inline const char *infra_key_type(const struct key_schema *keys, size_t part)
{
    return part < keys->hash_count ? "HASH" : "RANGE";
}

#endif
