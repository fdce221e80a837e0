// The functions of migrations (model/migration_functions.h). guard/eval.h calls this one; what
// comes out is in the scope's arena.
#ifndef GUARD_MIGRATION_EVAL_H
#define GUARD_MIGRATION_EVAL_H

#include "guard/eval.h"

MUST_CHECK enum eval_status migration_call(const struct model_expr *call, struct model_scope *scope,
                                           struct slice *out);

#endif
