/* respond.c: plain answers, at once. */
#include "web/server.h"

void tt_web_respond(const tt_web_request *request, unsigned status, const char *content_type,
                    const char *body, size_t size) {
  const char *phrase = status == 429 ? "Too Many Requests" : NULL;  // which libsoup has not
  soup_server_message_set_status(request->message, status, phrase);
  soup_server_message_set_response(request->message, content_type, SOUP_MEMORY_COPY, body, size);
}

void tt_web_make_valid(GString *text) {
  if (g_utf8_validate(text->str, (gssize)text->len, NULL)) return;
  char *valid = g_utf8_make_valid(text->str, (gssize)text->len);
  g_string_assign(text, valid);
  g_free(valid);
}

void tt_web_respond_error(const tt_web_request *request, tt_status status, const char *text) {
  unsigned code = status == TT_NOT_FOUND                                                   ? 404
                  : status == TT_INVALID || status == TT_USAGE || status == TT_BAD_MESSAGE ? 400
                  : status == TT_FULL                                                      ? 503
                                                                                           : 500;
  GString *body = g_string_new("{\"error\": \"");
  for (const char *c = text; *c; c++) {
    if (*c == '"' || *c == '\\') g_string_append_c(body, '\\');
    g_string_append_c(body, (unsigned char)*c < 0x20 ? ' ' : *c);
  }
  g_string_append(body, "\"}\n");
  tt_web_make_valid(body);
  tt_web_respond(request, code, "application/json", body->str, body->len);
  g_string_free(body, TRUE);
}
