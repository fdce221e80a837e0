// S3's errors: X(id, code, status, message).
#ifndef OBJECTS_S3_ERROR_H
#define OBJECTS_S3_ERROR_H

// clang-format off
#define S3_ERROR_LIST(X) \
    X(ACCESS_DENIED, "AccessDenied", 403, "Access Denied") \
    X(ACL_UNSUPPORTED, "AccessControlListNotSupported", 400, "The bucket does not allow ACLs") \
    X(BAD_DIGEST, "BadDigest", 400, "The Content-MD5 you specified did not match what we received.") \
    X(BAD_CHECKSUM, "BadDigest", 400, "The checksum you specified did not match the calculated checksum.") \
    X(BUCKET_EXISTS, "BucketAlreadyOwnedByYou", 409, "Your previous request to create the named bucket succeeded and you already own it.") \
    X(BUCKET_NOT_EMPTY, "BucketNotEmpty", 409, "The bucket you tried to delete is not empty") \
    X(BUCKET_NAME, "InvalidBucketName", 400, "The specified bucket is not valid.") \
    X(TOO_MANY_BUCKETS, "TooManyBuckets", 400, "You have attempted to create more buckets than allowed") \
    X(COPY_SOURCE, "InvalidArgument", 400, "Copy Source must mention the source bucket and key: sourcebucket/sourcekey") \
    X(COPY_ITSELF, "InvalidRequest", 400, "This copy request is illegal because it is trying to copy an object to itself without changing the object's metadata, storage class, website redirect location or encryption attributes.") \
    X(COPY_TOO_LARGE, "InvalidRequest", 400, "The specified copy source is larger than the maximum allowable size for a copy source: 5368709120") \
    X(COPY_RANGE, "InvalidArgument", 400, "The x-amz-copy-source-range value must be of the form bytes=first-last where first and last are the zero-based offsets of the first and last bytes to copy") \
    X(ENTITY_TOO_LARGE, "EntityTooLarge", 400, "Your proposed upload exceeds the maximum allowed size") \
    X(ENTITY_TOO_SMALL, "EntityTooSmall", 400, "Your proposed upload is smaller than the minimum allowed size") \
    X(CHECKSUM_VALUE, "InvalidRequest", 400, "Value for x-amz-checksum header is invalid.") \
    X(CHECKSUM_TWO, "InvalidRequest", 400, "Expecting a single x-amz-checksum- header. Multiple checksum Types are not allowed.") \
    X(CHECKSUM_KIND, "InvalidRequest", 400, "Checksum algorithm provided is unsupported. Please try again with any of the valid types: [CRC32, CRC32C, CRC64NVME, SHA1, SHA256]") \
    X(CHECKSUM_TYPE, "InvalidRequest", 400, "The x-amz-checksum-type header cannot be used with this checksum algorithm.") \
    X(CHECKSUM_MISSING, "InvalidRequest", 400, "The upload was created using a checksum algorithm. The request must include the checksum for each part.") \
    X(CORS_METHOD, "InvalidRequest", 400, "Found unsupported HTTP method in CORS config.") \
    X(CORS_FORBIDDEN, "AccessForbidden", 403, "CORSResponse: This CORS request is not allowed. This is usually because the evalution of Origin, request method / Access-Control-Request-Method or Access-Control-Request-Headers are not whitelisted by the resource's CORS spec.") \
    X(CORS_DISABLED, "AccessForbidden", 403, "CORSResponse: CORS is not enabled for this bucket.") \
    X(CORS_REQUEST, "BadRequest", 400, "Insufficient information. Origin request header needed.") \
    X(DIGEST, "InvalidDigest", 400, "The Content-MD5 you specified is not valid.") \
    X(INCOMPLETE_BODY, "IncompleteBody", 400, "You did not provide the number of bytes specified by the Content-Length HTTP header") \
    X(INTERNAL, "InternalError", 500, "We encountered an internal error. Please try again.") \
    X(INVALID_PART, "InvalidPart", 400, "One or more of the specified parts could not be found. The part may not have been uploaded, or the specified entity tag may not match the part's entity tag.") \
    X(INVALID_PART_ORDER, "InvalidPartOrder", 400, "The list of parts was not in ascending order. Parts must be ordered by part number.") \
    X(INVALID_RANGE, "InvalidRange", 416, "The requested range is not satisfiable") \
    X(INVALID_ENCODING, "InvalidArgument", 400, "Invalid Encoding Method specified in Request") \
    X(INVALID_MAX_KEYS, "InvalidArgument", 400, "Provided max-keys not an integer or within integer range") \
    X(INVALID_NUMBER, "InvalidArgument", 400, "A numeric parameter of the request is not an integer or not within its range") \
    X(INVALID_PART_NUMBER, "InvalidArgument", 400, "Part number must be an integer between 1 and 10000, inclusive") \
    X(INVALID_TOKEN, "InvalidArgument", 400, "The continuation token provided is incorrect") \
    X(INVALID_HEADER, "InvalidArgument", 400, "A header or parameter of the request has a value that is not allowed") \
    X(INVALID_REQUEST, "InvalidRequest", 400, "The request is not valid") \
    X(INVALID_DIRECTIVE, "InvalidArgument", 400, "Unknown metadata directive.") \
    X(INVALID_STORAGE_CLASS, "InvalidStorageClass", 400, "The storage class you specified is not valid") \
    X(INVALID_TAG, "InvalidTag", 400, "The tag provided was not a valid tag. This error can occur if the tag did not pass input validation.") \
    X(INVALID_URI, "InvalidURI", 400, "Couldn't parse the specified URI.") \
    X(KEY_TOO_LONG, "KeyTooLongError", 400, "Your key is too long") \
    X(LENGTH_REQUIRED, "MissingContentLength", 411, "You must provide the Content-Length HTTP header.") \
    X(LIFECYCLE, "InvalidRequest", 400, "The lifecycle configuration has a rule that is not supported: rules may have Expiration by Days or Date, and AbortIncompleteMultipartUpload.") \
    X(MALFORMED_POST, "MalformedPOSTRequest", 400, "The body of your POST request is not well-formed multipart/form-data.") \
    X(MALFORMED_XML, "MalformedXML", 400, "The XML you provided was not well-formed or did not validate against our published schema") \
    X(METADATA_TOO_LARGE, "MetadataTooLarge", 400, "Your metadata headers exceed the maximum allowed metadata size") \
    X(METHOD_NOT_ALLOWED, "MethodNotAllowed", 405, "The specified method is not allowed against this resource.") \
    X(MISSING_MD5, "InvalidRequest", 400, "Missing required header for this request: Content-MD5 OR x-amz-checksum-*") \
    X(NO_FILE, "InvalidArgument", 400, "POST requires exactly one file upload per request.") \
    X(NO_KEY_FIELD, "InvalidArgument", 400, "Bucket POST must contain a field named 'key'.  If it is specified, please check the order of the fields.") \
    X(NO_ROOM, "InsufficientStorage", 507, "The disk of the object store is full. Delete objects, or give it more room.") \
    X(NO_SUCH_BUCKET, "NoSuchBucket", 404, "The specified bucket does not exist") \
    X(NO_SUCH_CORS, "NoSuchCORSConfiguration", 404, "The CORS configuration does not exist") \
    X(NO_SUCH_KEY, "NoSuchKey", 404, "The specified key does not exist.") \
    X(NO_SUCH_LIFECYCLE, "NoSuchLifecycleConfiguration", 404, "The lifecycle configuration does not exist") \
    X(NO_SUCH_UPLOAD, "NoSuchUpload", 404, "The specified upload does not exist. The upload ID may be invalid, or the upload may have been aborted or completed.") \
    X(NO_SUCH_VERSION, "NoSuchVersion", 404, "The specified version does not exist.") \
    X(NOT_IMPLEMENTED, "NotImplemented", 501, "A header or query you provided implies functionality that is not implemented") \
    X(NOT_MODIFIED, "NotModified", 304, "Not Modified") \
    X(PRECONDITION_FAILED, "PreconditionFailed", 412, "At least one of the pre-conditions you specified did not hold") \
    X(REQUEST_TIMEOUT, "RequestTimeout", 400, "Your socket connection to the server was not read from or written to within the timeout period. Idle connections will be closed.") \
    X(SLOW_DOWN, "SlowDown", 503, "Please reduce your request rate.") \
    X(TOO_LARGE_BODY, "MaxMessageLengthExceeded", 400, "Your request was too big.") \
    X(TOO_MANY_RULES, "InvalidRequest", 400, "The configuration has more rules than allowed") \
    X(TOO_MANY_TAGS, "BadRequest", 400, "Object tags cannot be greater than 10")
// clang-format on

enum s3_error {
    S3_OK,
#define X(id, code, status, message) S3_##id,
    S3_ERROR_LIST(X)
#undef X
        S3_ERRORS
};

struct s3_error_row {
    const char *code;
    int status;
    const char *message;
};
const struct s3_error_row *s3_error_row(enum s3_error error);

#endif
