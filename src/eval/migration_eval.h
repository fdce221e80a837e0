// The functions of migrations (model/model.h). guard/eval.h calls this one; what
// comes out is in the scope's arena.
#ifndef EVAL_MIGRATION_EVAL_H
#define EVAL_MIGRATION_EVAL_H

#include "eval/eval.h"

MUST_CHECK enum eval_status migration_call(const struct model_expr *call, struct model_scope *scope,
                                           struct slice *out);

#endif
