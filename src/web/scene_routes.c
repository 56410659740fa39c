#include "web/scene_routes.h"

#include "web/question.h"

#include <stdlib.h>
#include <string.h>

/* One request on its way. */
typedef struct job {
  tt_scene_routes_options options;
  char *name;   /* of the scene; NULL: it is for the keys */
  bool removes; /* it; else it is for its picture */
  tt_role role;
} job;

static void free_job(void *context) {
  job *made = context;
  g_free(made->name);
  g_free(made);
}

static void remove_scene(const job *from, tt_web_answer *answer) {
  bool denied = false;
  answer->status = from->options.remove(from->options.context, from->name,
                                        from->role >= TT_ROLE_ADMINISTER, &denied, &answer->error);
  g_string_assign(answer->body, "{}");
  if (denied) tt_web_answer_refusal(answer, 403);
}

static void draw_scene(const job *from, tt_web_answer *answer) {
  char *picture = NULL;
  answer->type = "image/svg+xml";
  answer->status =
      from->options.picture(from->options.context, from->name, from->role >= TT_ROLE_ADMINISTER,
                            &picture, &answer->error);
  if (picture) g_string_assign(answer->body, picture);
  free(picture);
}

static void work(void *context, tt_web_answer *answer) {
  const job *from = context;
  if (from->name) {
    (from->removes ? remove_scene : draw_scene)(from, answer);
    return;
  }
  const char *keys = from->options.keys();
  if (keys)
    g_string_assign(answer->body, keys);
  else
    answer->status = tt_fail(&answer->error, TT_NOMEM, "out of memory");
}

/* A picture takes long, since its scene is compiled. */
static void respond(void *context, const tt_web_request *request, char *name, bool removes) {
  job *made = g_new0(job, 1);
  made->options = *(const tt_scene_routes_options *)context;
  made->name = name;
  made->removes = removes;
  made->role = request->role;
  (name && !removes ? tt_web_respond_at_leisure : tt_web_respond_later)(request, work, made,
                                                                        free_job);
}

static void handle_scene(void *context, const tt_web_request *request) {
  static const char picture[] = "/picture";
  if (strcmp(request->method, "DELETE") == 0)
    respond(context, request, g_strdup(request->rest), true);
  else if (g_str_has_suffix(request->rest, picture))
    respond(context, request, g_strndup(request->rest, strlen(request->rest) - strlen(picture)),
            false);
  else
    tt_web_respond_error(request, TT_NOT_FOUND, "a scene has a picture (/picture)");
}

static void handle_schema(void *context, const tt_web_request *request) {
  respond(context, request, NULL, false);
}

void tt_scene_routes_add(tt_web *web, const tt_scene_routes_options *options) {
  tt_web_add_route(web, &(tt_web_route){.path = "/api/scenes/",
                                        .watch = "GET",
                                        .drive = "DELETE",
                                        .handle = handle_scene,
                                        .context = (void *)options});
  tt_web_add_route(web, &(tt_web_route){.path = "/api/schema",
                                        .watch = "GET",
                                        .handle = handle_schema,
                                        .context = (void *)options});
}
