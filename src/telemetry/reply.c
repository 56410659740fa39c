/* reply.c */
#include "telemetry/reply.h"

#include "telemetry/text.h"

char *tt_reply_ack(const tt_message *message, const tt_origin *origin) {
  char time[TT_MS_SIZE];
  GString *text = g_string_new("<ACK id=\"");
  tt_append_xml(text, message->device);
  tt_ms_format(time, message->time);
  g_string_append_printf(text, "\" time=\"%s\"", time);
  if (message->seq != TT_MESSAGE_NO_SEQ)
    g_string_append_printf(text, " seq=\"%" G_GINT64_FORMAT "\"", message->seq);
  if (origin->dropped) {
    g_string_append_printf(text, " dropped=\"%u\" reason=\"", origin->dropped);
    tt_append_xml(text, origin->drop_reason);
    g_string_append_c(text, '"');
  }
  g_string_append(text, "/>\n");
  return g_string_free(text, FALSE);
}

char *tt_reply_refused(const tt_message_refusal *refusal) {
  GString *text = g_string_new(NULL);
  g_string_append_printf(text, "<REFUSED line=\"%lu\" column=\"%lu\" reason=\"", refusal->line,
                         refusal->column);
  tt_append_xml(text, refusal->reason);
  g_string_append(text, "\"/>\n");
  return g_string_free(text, FALSE);
}
