/* answer.c */
#include "telemetry/answer.h"

#include "telemetry/text.h"

/** Refusals that one answer lists; all are counted. */
#define MOST_LISTED 100

void tt_answer_begin(tt_answer *answer) {
  *answer = (tt_answer){.refusals = g_string_new(NULL), .drops = g_string_new(NULL)};
}

void tt_answer_clear(tt_answer *answer) {
  if (answer->refusals) g_string_free(answer->refusals, TRUE);
  if (answer->drops) g_string_free(answer->drops, TRUE);
  *answer = (tt_answer){0};
}

void tt_answer_refuse(tt_answer *answer, const tt_message_refusal *refusal, uint64_t count) {
  answer->refused += count;
  if (!*answer->first.text) {
    answer->first.line = refusal->line;
    answer->first.column = refusal->column;
    g_strlcpy(answer->first.text, refusal->reason, sizeof answer->first.text);
  }
  if (answer->listed >= MOST_LISTED) return;
  if (answer->listed++) g_string_append_c(answer->refusals, ',');
  g_string_append_printf(
      answer->refusals, "{\"line\":%lu,\"column\":%lu,\"reason\":", refusal->line, refusal->column);
  tt_append_json(answer->refusals, refusal->reason);
  g_string_append_c(answer->refusals, '}');
}

void tt_answer_drop(tt_answer *answer, const tt_origin *origin) {
  if (!origin->dropped) return;
  answer->dropped += origin->dropped;
  if (answer->drops_listed >= MOST_LISTED) return;
  if (answer->drops_listed++) g_string_append_c(answer->drops, ',');
  tt_append_json(answer->drops, origin->drop_reason);
}

void tt_answer_append(const tt_answer *answer, GString *text) {
  g_string_append_printf(
      text, "{\"stored\":%" G_GUINT64_FORMAT ",\"refused\":%" G_GUINT64_FORMAT ",\"reasons\":[%s]",
      answer->taken, answer->refused, answer->refusals->str);
  if (answer->dropped)
    g_string_append_printf(text, ",\"dropped_values\":%" G_GUINT64_FORMAT ",\"dropped\":[%s]",
                           answer->dropped, answer->drops->str);
  if (answer->full)
    g_string_append(text, ",\"error\":\"the store is behind; send the rest again\"");
  g_string_append(text, "}\n");
}
