/* telemetry_formats.h: what messages are written in when they come by HTTP, and how their senders are answered: one table a
 * format, of which telemetry_upload.c knows no more. Web's thread.
 */
#ifndef TT_WEB_TELEMETRY_FORMATS_H
#define TT_WEB_TELEMETRY_FORMATS_H

#include "telemetry/answer.h"
#include "web/telemetry_routes_internal.h"

typedef struct tt_upload_format {
  const char *source; /**< of messages, for the log */
  /** Makes what decodes the body of a request. TT_INVALID: what it asks for makes no sense; TT_NOMEM. */
  tt_status (*open)(const tt_telemetry_routes *routes, const tt_web_request *request,
                    const tt_message_handler *handler, void *context, void **decoder,
                    tt_error *error);
  /** As the functions of these names in telemetry/message.h. */
  void (*feed)(void *decoder, const void *bytes, size_t size);
  int64_t (*begun)(const void *decoder);
  void (*end)(void *decoder);
  void (*free)(void *decoder);
  /** All that was taken is durable: returns the status of the answer, and appends its body, JSON or nothing. */
  unsigned (*answer)(const tt_answer *result, GString *body);
} tt_upload_format;

extern const tt_upload_format tt_upload_xml;  /**< MESSAGE, any number of them */
extern const tt_upload_format tt_upload_json; /**< the same in JSON */
extern const tt_upload_format tt_upload_line; /**< InfluxDB line protocol */

/** A POST before its body: takes the messages as they come; nothing for other methods. */
void tt_upload_begin(tt_telemetry_routes *routes, const tt_web_request *request,
                     const tt_upload_format *format);

#endif
