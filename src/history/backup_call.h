// What the operations on backups share.
#ifndef HISTORY_BACKUP_CALL_H
#define HISTORY_BACKUP_CALL_H

#include "backup/backup.h"
#include "call/table_ops.h"

// The backup that the call's ARN means; BackupNotFoundException if there is none.
MUST_CHECK bool call_backup(struct api_call *call, struct slice arn, struct backup *out);

#endif
