// AttributeValues from JSON straight into their encoded form. Internal to src/json.
//
// One decoder serves all values of a request. While little of the text is left it builds them
// in the arena; otherwise in a scratch buf, from which the finished value is copied into the
// arena once, so that slices handed out stay valid while the scratch memory grows and is used
// again. Release it on every path.
#ifndef JSON_VALUE_DECODE_H
#define JSON_VALUE_DECODE_H

#include "value/value.h"
#include "json/type_error.h"

struct value_decoder {
    struct json_reader *reader;
    struct error *error;
    struct arena *arena;
    enum service_layer layer;     // which words faults have
    struct value_builder builder; // into out, or into place
    struct buf out;
    struct buf place;  // over memory of the arena: for short texts, whose values need no copy
    struct buf binary; // the bytes of one B
    // The first (or weightiest) fault of the field that is being decoded.
    const char *fault;
    bool malformed; // it is no AttributeValue at all
    bool too_deep;  // it has too many levels
    int fault_weight;
    struct slice fault_name;
    struct slice top_name; // ITEM: the attribute that is being decoded
    bool mute;             // nothing is built any more: the field has a fault
    unsigned levels;       // of lists and maps that may stand in one another
    bool repeats;          // an AttributeValue names a type twice
    bool careful;          // so the field is decoded a second time, looking ahead
};

// Takes no memory; `reader`, `arena` and `error` are borrowed.
void value_decoder_init(struct value_decoder *decoder, struct json_reader *reader,
                        enum service_layer layer, struct arena *arena, struct error *error);
void value_decoder_release(struct value_decoder *decoder);

// Reads one AttributeValue, or a map of them as one M value. False with
// SerializationException or ERR_BUDGET; a fault is not an error (see shape.h).
MUST_CHECK bool value_decode(struct value_decoder *decoder, enum json_place place,
                             struct field_value *out);
// `takes` says which names may stand in the map of values of expressions; else NULL.
MUST_CHECK bool value_decode_item(struct value_decoder *decoder, enum json_place place,
                                  bool (*takes)(struct slice), struct field_value *out);

// A JSON string of base64 into `out`, which is cleared first.
MUST_CHECK bool value_decode_blob(struct json_reader *reader, enum json_place place,
                                  struct buf *out, struct error *error);
// true, false, or a string that means one of them.
MUST_CHECK bool value_decode_bool(struct json_reader *reader, enum json_place place, bool *out,
                                  struct error *error);

#endif
