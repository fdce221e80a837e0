// What the operations on backups share.
#ifndef API_BACKUP_CALL_H
#define API_BACKUP_CALL_H

#include "api/table_ops.h"
#include "backup/backup.h"

// The backup that the call's ARN means; BackupNotFoundException if there is none.
MUST_CHECK bool call_backup(struct api_call *call, struct slice arn, struct backup *out);

#endif
