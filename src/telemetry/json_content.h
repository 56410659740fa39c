/* json_content.h: what stands in one message of JSON. */
#ifndef TT_TELEMETRY_JSON_CONTENT_H
#define TT_TELEMETRY_JSON_CONTENT_H

#include "telemetry/message_build.h"

/** Fills a build that has begun. False: refused at byte `*at`, for `reason`, which is cut at `room`. */
bool tt_json_content_read(tt_message_build *build, const char *text, size_t size, size_t *at,
                          char *reason, size_t room);

#endif
