// objects: the target of `object … { on delete delete }`. Each event names objects whose item has
// gone; they are deleted. One that is not there is deleted already, so an event may come twice.
#ifndef S3_REMOVE_H
#define S3_REMOVE_H

#include "publish/publish.h"

// For struct publisher, whose `s3` is the store.
outlet_open_fn s3_remove_open;

#endif
