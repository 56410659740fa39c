/* question.c */
#include "web/question.h"

#include "base/json.h"
#include "web/body.h"

#include <string.h>

void tt_web_question_keep(tt_web_question *question, const tt_web_request *request) {
  const char *slash = strchr(request->rest, '/');
  *question = (tt_web_question){
      .method = g_strdup(request->method),
      .rest = g_strdup(request->rest),
      .id = g_strndup(request->rest, strcspn(request->rest, "/")),
      .below = slash ? g_strdup(slash + 1) : NULL,
      .query = g_strdup(request->query),
      .role = request->role,
      .body = soup_message_body_flatten(soup_server_message_get_request_body(request->message))};
}

void tt_web_question_clear(tt_web_question *question) {
  g_free(question->method);
  g_free(question->rest);
  g_free(question->id);
  g_free(question->below);
  g_free(question->query);
  g_bytes_unref(question->body);
}

struct json_object *tt_web_question_json(const tt_web_question *question, tt_web_answer *answer) {
  struct json_object *object = NULL;
  answer->status = tt_web_read_json(question->body, &object, &answer->error);
  return answer->status == TT_OK ? object : NULL;
}

void tt_web_answer_json(tt_web_answer *answer, struct json_object *object) {
  if (!object) tt_web_answer_error(answer, TT_NOMEM, "out of memory");
  g_string_assign(answer->body,
                  json_object_to_json_string_ext(
                      object, JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE));
  json_object_put(object);
}

void tt_web_answer_refusal(tt_web_answer *answer, unsigned code) {
  struct json_object *object = json_object_new_object();
  tt_json_add_text(object, "error", answer->error.text);
  answer->status = TT_OK;
  answer->code = code;
  tt_web_answer_json(answer, object);
}

void tt_web_answer_error(tt_web_answer *answer, tt_status status, const char *text) {
  answer->status = tt_fail(&answer->error, status, "%s", text);
}
