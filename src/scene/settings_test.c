/* settings_test.c: what is listed of a scene's keys is what --set takes and what it refuses. */
#include "app/guests.h"
#include "scene/data.h"
#include "scene/keys.h"
#include "scene/settings.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

static tt_error error;

static tt_scene *load(const tt_scene_guests *guests, const char *name, const char *setting) {
  tt_scene *scene;
  if (tt_scene_load(guests, name, &setting, setting ? 1 : 0, &scene, &error) != TT_OK)
    fail_msg("%s, %s: %s", name, setting ? setting : "as it is", error.text);
  return scene;
}

static const tt_scene_setting *find(const tt_scene_settings *settings, const char *path) {
  for (int i = 0; i < settings->count; i++)
    if (strcmp(settings->items[i].path, path) == 0) return &settings->items[i];
  return NULL;
}

/* `path=value` is refused, and the message names the path. */
static void refused(const tt_scene_guests *guests, const char *name, const char *path,
                    const char *value) {
  char setting[512], begin[512];
  const char *settings[] = {setting};
  tt_scene *scene;
  snprintf(setting, sizeof setting, "%s=%s", path, value);
  snprintf(begin, sizeof begin, "--set %s", path);
  if (tt_scene_load(guests, name, settings, 1, &scene, &error) == TT_OK)
    fail_msg("%s: %s is taken", name, setting);
  if (strncmp(error.text, begin, strlen(begin)) != 0) fail_msg("%s: %s", setting, error.text);
}

static void out_of_range(const tt_scene_guests *guests, const char *name,
                         const tt_scene_setting *setting) {
  const bool whole = setting->kind == TT_SETTING_COUNT;
  char text[64];
  if (setting->upper < 1e15) {
    snprintf(text, sizeof text, whole ? "%.0f" : "%.17g",
             setting->upper + fmax(1, fabs(setting->upper)));
    refused(guests, name, setting->path, text);
  }
  if (setting->lower > 0 && !whole) {
    snprintf(text, sizeof text, "%.17g", setting->lower / 2);
    refused(guests, name, setting->path, text);
  }
  if (setting->lower > -1e15 && setting->lower <= 0) {
    snprintf(text, sizeof text, whole ? "%.0f" : "%.17g", setting->lower - 1);
    refused(guests, name, setting->path, text);
  }
}

/* The present value again is the scene again; what is none of the kind is refused. */
static void check_setting(const tt_scene_guests *guests, const char *name,
                          const tt_scene_setting *setting) {
  if (*setting->value) {
    char text[2048];
    snprintf(text, sizeof text, "%s=%s", setting->path, setting->value);
    tt_scene *again = load(guests, name, text);
    tt_scene_settings settings;
    assert_int_equal(tt_scene_settings_list(again, &settings), TT_OK);
    const tt_scene_setting *same = find(&settings, setting->path);
    if (!same || strcmp(same->value, setting->value) != 0)
      fail_msg("%s: now %s", text, same ? same->value : "not there");
    assert_string_equal(same->initial, setting->initial);
    assert_int_equal(same->kind, setting->kind);
    tt_scene_settings_free(&settings);
    tt_scene_free(again);
  }
  if (!setting->known) return;
  if (setting->kind == TT_SETTING_QUANTITY && !*setting->unit) return; /* the model refuses it */
  if (setting->kind != TT_SETTING_TEXT) refused(guests, name, setting->path, "no such thing");
  if (setting->kind == TT_SETTING_QUANTITY || setting->kind == TT_SETTING_NUMBER ||
      setting->kind == TT_SETTING_COUNT)
    out_of_range(guests, name, setting);
  if (setting->kind == TT_SETTING_WORD) assert_non_null(strchr(setting->words, ','));
}

static void check_scene(const tt_scene_guests *guests, const char *name) {
  tt_scene *scene = load(guests, name, NULL);
  tt_scene_settings settings;
  assert_int_equal(tt_scene_settings_list(scene, &settings), TT_OK);
  assert_true(settings.count > 20);
  for (int i = 0; i < settings.count; i++) {
    assert_ptr_equal(find(&settings, settings.items[i].path), &settings.items[i]);
    check_setting(guests, name, &settings.items[i]);
  }
  tt_scene_settings_free(&settings);
  tt_scene_free(scene);
}

static void what_is_listed_is_what_is_taken(void **state) {
  (void)state;
  check_scene(&tt_program_guests, "gripper");
  check_scene(&tt_program_guests, "frc2011-sensors");
  check_scene(NULL, "sharp");
}

static void each_is_told_with_its_bounds(void **state) {
  (void)state;
  tt_scene *scene = load(&tt_program_guests, "gripper", "wires.lockstep-tcp.deadline=250 ms");
  tt_scene_settings settings;
  assert_int_equal(tt_scene_settings_list(scene, &settings), TT_OK);
  const tt_scene_setting *one = find(&settings, "wires.lockstep-tcp.deadline");
  assert_string_equal(one->value, "250 ms");
  assert_string_equal(one->initial, "1 s");
  assert_string_equal(one->unit, "s");
  assert_string_equal(one->owner, "wires.lockstep-tcp");
  assert_true(one->lower == 0.001 && one->upper == 3600 && one->known);
  one = find(&settings, "pace");
  assert_string_equal(one->words, "realtime, lockstep, fast");
  assert_string_equal(one->value, "lockstep");
  assert_string_equal(one->initial, "realtime");
  assert_string_equal(one->owner, "");
  one = find(&settings, "wires.lockstep-tcp.watchdog");
  assert_string_equal(one->initial, "0 s");
  one = find(&settings, "record.on");
  assert_int_equal(one->kind, TT_SETTING_FLAG);
  assert_string_equal(one->value, "on");
  /* TCP loses nothing: its wire takes no faults. */
  assert_null(find(&settings, "wires.lockstep-tcp.faults.loss"));
  tt_scene_settings_free(&settings);
  tt_scene_free(scene);
}

/* Every plain key of the scene's own schema, whether a scene has it or not. */
static void check_key(void *context, const char *file, const char *path,
                      const cyaml_schema_value_t *value) {
  const bool inside = strchr(path, '.') && strncmp(path, "robots.", 7) != 0;
  if (strcmp(file, "scene") != 0 || inside || value->type == CYAML_MAPPING ||
      value->type == CYAML_IGNORE || value->type == CYAML_SEQUENCE)
    return;
  char listed[256];
  snprintf(listed, sizeof listed, strchr(path, '.') ? "robots.gripper%s" : "%s",
           strchr(path, '.') ? strchr(path, '.') : path);
  if (!find(context, listed)) fail_msg("%s is not listed", listed);
}

static void no_key_is_missing(void **state) {
  (void)state;
  tt_scene *scene = load(&tt_program_guests, "gripper", NULL);
  tt_scene_settings settings;
  tt_pool pool = {0};
  tt_schemas schemas;
  assert_int_equal(tt_scene_settings_list(scene, &settings), TT_OK);
  assert_int_equal(tt_schemas_new(&tt_program_guests, &pool, &schemas), TT_OK);
  tt_keys_visit(&schemas, check_key, &settings);
  tt_pool_free(&pool);
  tt_scene_settings_free(&settings);
  tt_scene_free(scene);
}

/* Who has no such rooms keeps their sections as they are, and refuses those that nobody has. */
static void sections_of_others_are_kept(void **state) {
  (void)state;
  tt_scene *scene = load(NULL, "gripper", "nt4.listen=anything");
  tt_scene_settings settings;
  assert_int_equal(tt_scene_settings_list(scene, &settings), TT_OK);
  const tt_scene_setting *one = find(&settings, "nt4.listen");
  assert_non_null(one);
  assert_string_equal(one->value, "anything");
  assert_string_equal(one->owner, "nt4");
  assert_false(one->known);
  assert_non_null(find(&settings, "wires.lockstep-tcp.joints"));
  assert_null(find(&settings, "wires.lockstep-tcp.deadline"));
  assert_true(find(&settings, "pace")->known);
  tt_scene_settings_free(&settings);
  tt_scene_free(scene);
  refused(NULL, "gripper", "wire.x", "1");
  refused(&tt_program_guests, "gripper", "wire.x", "1");
  /* The library knows the names of all sections of the program, and no others. */
  int count = 0;
  for (; tt_guest_keys[count]; count++) {
    bool found = strcmp(tt_guest_keys[count], "wires") == 0;
    for (int i = 0; tt_program_guests.sections[i]; i++)
      found |= strcmp(tt_guest_keys[count], tt_program_guests.sections[i]->key) == 0;
    assert_true(found);
  }
  assert_int_equal(count, tt_schema_count(tt_program_guests.sections) + 1);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(what_is_listed_is_what_is_taken),
      cmocka_unit_test(each_is_told_with_its_bounds),
      cmocka_unit_test(no_key_is_missing),
      cmocka_unit_test(sections_of_others_are_kept),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
