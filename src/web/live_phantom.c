/* live_phantom.c: kept runs raced beside the live world. Opening one takes as long as its log is large, so that happens
 * in a thread of its own; everything else in the web's thread.
 */
#include "base/json.h"
#include "record/run_folder.h"
#include "web/live_internal.h"

#include <stdlib.h>
#include <string.h>

#define MOST_PHANTOMS 8
#define MESHES_EACH 65536 /* mesh ids of phantom N begin at N × this */

typedef struct racer {
  int id;
  char *run;
  tt_phantom *phantom;
} racer;

/* A log being opened. */
typedef struct opening {
  tt_live *live;
  GMainContext *context;
  tt_kept_run run;
  tt_phantom *phantom;
  tt_error error;
} opening;

static void free_racer(gpointer data) {
  racer *freed = data;
  tt_phantom_close(freed->phantom);
  g_free(freed->run);
  g_free(freed);
}

static GString *describe(const tt_live *live) {
  struct json_object *made = json_object_new_object();
  struct json_object *list = json_object_new_array();
  tt_json_add_text(made, "type", "phantoms");
  for (guint i = 0; i < live->phantoms->len; i++) {
    const racer *one = live->phantoms->pdata[i];
    json_object_array_add(
        list, tt_phantom_describe(one->phantom, one->id, one->run, one->id * MESHES_EACH));
  }
  tt_json_add(made, "phantoms", list);
  GString *text = g_string_new(json_object_to_json_string_ext(made, JSON_C_TO_STRING_PLAIN));
  json_object_put(made);
  return text;
}

static void tell_all(tt_live *live) {
  live->pose_number++; /* a paused world is drawn again too */
  tt_live_say_to_all(live, describe(live));
}

void tt_live_phantoms_greet(tt_live_page *page) {
  if (page->live->phantoms->len) tt_live_page_say(page, describe(page->live));
}

/* ---- adding and removing ---- */

static gboolean finish(gpointer data) {
  opening *done = data;
  tt_live *live = done->live;
  live->phantoms_opening--;
  if (!done->phantom) {
    tt_live_say_to_all(live, tt_live_error(done->error.text));
  } else if (live->phantoms->len < MOST_PHANTOMS) {
    racer *made = g_new(racer, 1);
    *made = (racer){live->next_phantom++, g_strdup(done->run.id), done->phantom};
    done->phantom = NULL;
    g_ptr_array_add(live->phantoms, made);
    tell_all(live);
  }
  return G_SOURCE_REMOVE;
}

static void free_opening(gpointer data) {
  opening *freed = data;
  tt_phantom_close(freed->phantom);
  tt_kept_run_clear(&freed->run);
  g_free(freed);
}

static gpointer open_log(gpointer data) {
  opening *held = data;
  GMainContext *context = held->context;
  tt_phantom_open(held->run.path, &held->phantom, &held->error);
  tt_web_hand(context, finish, held, free_opening);
  g_main_context_unref(context);
  return NULL;
}

void tt_live_phantom_add(tt_live_page *page, const char *id) {
  tt_live *live = page->live;
  tt_kept_run run;
  bool found = tt_kept_run_find(live->options.runs, id, &run);
  if (!found || live->phantoms->len + live->phantoms_opening >= MOST_PHANTOMS) {
    tt_live_page_say(
        page, tt_live_error(found ? "no more than 8 runs race at a time" : "there is no such run"));
    tt_kept_run_clear(&run);
    return;
  }
  opening *held = g_new0(opening, 1);
  *held =
      (opening){.live = live, .context = g_main_context_ref(tt_web_context(live->web)), .run = run};
  live->phantoms_opening++;
  g_thread_unref(g_thread_new("phantom", open_log, held));
}

void tt_live_phantom_remove(tt_live_page *page, int id) {
  tt_live *live = page->live;
  for (guint i = 0; i < live->phantoms->len; i++) {
    if (((racer *)live->phantoms->pdata[i])->id != id) continue;
    g_ptr_array_remove_index(live->phantoms, i);
    tell_all(live);
    return;
  }
  tt_live_page_say(page, tt_live_error("there is no such phantom"));
}

bool tt_live_phantom_mesh(const tt_live *live, long id, const uint8_t **bytes, size_t *size) {
  for (guint i = 0; i < live->phantoms->len; i++) {
    const racer *one = live->phantoms->pdata[i];
    if (id / MESHES_EACH == one->id)
      return tt_phantom_mesh(one->phantom, (int)(id % MESHES_EACH), bytes, size);
  }
  return false;
}

/* ---- frames ---- */

/* The live robot of the phantom's name, or else the first. */
static int rival(const tt_live *live, const racer *one) {
  const tt_model *model = live->model;
  for (int i = 0; i < model->robot_count; i++)
    if (strcmp(model->robots[i].name, tt_phantom_robot(one->phantom)) == 0) return i;
  return 0;
}

/* In a world of several, "red/beam" is red's beam. */
static const char *without_robot(const char *body, const char *robot) {
  size_t length = strlen(robot);
  return strncmp(body, robot, length) == 0 && body[length] == '/' ? body + length + 1 : body;
}

/* The body of the rival that the phantom is compared with: its namesake, or else the root. */
static int rival_body(const tt_live *live, const racer *one) {
  const tt_model *model = live->model;
  const char *followed = tt_phantom_followed(one->phantom);
  int robot = rival(live, one);
  if (!model->robot_count) return 0;
  if (followed) followed = without_robot(followed, tt_phantom_robot(one->phantom));
  for (int i = 0; followed && i < model->body_count; i++)
    if (model->bodies[i].robot == robot &&
        strcmp(without_robot(model->bodies[i].name, model->robots[robot].name), followed) == 0)
      return i;
  return model->robots[robot].root_body;
}

unsigned tt_live_phantom_count(const tt_live *live) { return live->phantoms->len; }

void tt_live_put_phantoms(GString *to, tt_live *live) {
  const tt_view *view = live->latest;
  for (guint i = 0; i < live->phantoms->len; i++) {
    racer *one = live->phantoms->pdata[i];
    double pose[7], seconds, metres;
    int count;
    const double(*poses)[7] = tt_phantom_poses(one->phantom, view->time, &count);
    int body = rival_body(live, one);
    memcpy(pose, view->body_position[body], sizeof *view->body_position);
    memcpy(pose + 3, view->body_rotation[body], sizeof *view->body_rotation);
    tt_phantom_gap(one->phantom, pose, &seconds, &metres);
    tt_live_put_u16(to, (unsigned)one->id);
    tt_live_put_u16(to, (unsigned)count);
    tt_live_put_f32(to, seconds);
    tt_live_put_f32(to, metres);
    for (int b = 0; b < count; b++)
      for (int k = 0; k < 7; k++) tt_live_put_f32(to, poses[b][k]);
  }
}

void tt_live_phantoms_new(tt_live *live) {
  live->phantoms = g_ptr_array_new_with_free_func(free_racer);
  live->next_phantom = 1;
}

void tt_live_phantoms_free(tt_live *live) { g_ptr_array_unref(live->phantoms); }
