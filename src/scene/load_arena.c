/* load_arena.c: the arena: its model, game pieces, painted lines and where drivers stand. */
#include "game/driver_station.h"
#include "game/match.h"
#include "scene/load.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

#define DEFAULT_LINE_WIDTH 0.05 /* m */

static tt_status load_pieces(tt_scene_store *store, const tt_arena_keys *keys, const char *file) {
  tt_engine_piece *pieces;
  NEW(store, pieces, keys->pieces_count);
  for (unsigned i = 0; i < keys->pieces_count; i++) {
    pieces[i] = (tt_engine_piece){.body = keys->pieces[i].body, .kind = keys->pieces[i].kind};
    PRINT(store, pieces[i].where, "%s: pieces[%u]", file, i);
    if (!tt_is_piece_kind(pieces[i].kind)) {
      return tt_fail(store->error, TT_INVALID,
                     "%s: pieces[%u].kind: %d is no kind of game piece; give 1 to %d", file, i,
                     pieces[i].kind, TT_PIECE_KINDS);
    }
    for (unsigned k = 0; k < i; k++) {
      if (strcmp(pieces[k].body, pieces[i].body)) continue;
      return tt_fail(store->error, TT_INVALID,
                     "%s: pieces[%u].body: '%s' is listed already; remove one", file, i,
                     pieces[i].body);
    }
  }
  store->scene.pieces = pieces;
  store->scene.piece_count = (int)keys->pieces_count;
  return TT_OK;
}

static tt_status check_coordinate(const char *text, const char *key, const char *where,
                                  double *value, tt_error *error) {
  return tt_quantity_check(text, key, where, TT_LENGTH, -1e4, 1e4, 0, value, error);
}

static tt_status check_heading(const char *text, const char *where, double *value,
                               tt_error *error) {
  return tt_quantity_check(text, "heading", where, TT_ANGLE, -10, 10, 0, value, error);
}

static tt_status load_lines(tt_scene_store *store, const tt_arena_keys *keys, const char *file) {
  tt_painted_line *lines;
  NEW(store, lines, keys->lines_count);
  for (unsigned i = 0; i < keys->lines_count; i++) {
    const tt_line_keys *from = &keys->lines[i];
    tt_painted_line *to = &lines[i];
    char where[PATH_MAX + 32];
    snprintf(where, sizeof where, "%s: lines[%u]", file, i);
    TT_TRY(check_coordinate(from->x1, "x1", where, &to->x1, store->error));
    TT_TRY(check_coordinate(from->y1, "y1", where, &to->y1, store->error));
    TT_TRY(check_coordinate(from->x2, "x2", where, &to->x2, store->error));
    TT_TRY(check_coordinate(from->y2, "y2", where, &to->y2, store->error));
    TT_TRY(tt_quantity_check(from->width, "width", where, TT_LENGTH, 0.001, 10, DEFAULT_LINE_WIDTH,
                             &to->width, store->error));
    to->darkness = from->darkness;
    if (to->darkness < 0 || to->darkness > 1) {
      return tt_fail(store->error, TT_INVALID, "%s.darkness: %g is out of range; give 0 to 1",
                     where, to->darkness);
    }
    to->black = from->color && strcmp(from->color, "black") == 0;
    if (from->color && !to->black && strcmp(from->color, "white") != 0)
      return tt_fail(store->error, TT_INVALID, "%s.color: '%s' is neither white nor black", where,
                     from->color);
  }
  store->scene.lines = lines;
  store->scene.line_count = (int)keys->lines_count;
  return TT_OK;
}

static tt_status load_stations(tt_scene_store *store, const tt_arena_keys *keys, const char *file) {
  tt_driver_place *places;
  NEW(store, places, keys->stations_count);
  for (unsigned i = 0; i < keys->stations_count; i++) {
    const tt_station_keys *from = &keys->stations[i];
    tt_driver_place *to = &places[i];
    char where[PATH_MAX + 32];
    snprintf(where, sizeof where, "%s: stations[%u]", file, i);
    if (!tt_station_read(from->place, &to->station))
      return tt_fail(store->error, TT_INVALID,
                     "%s.place: '%s' is no driver station; give red1 to red3 or blue1 to blue3",
                     where, from->place);
    for (unsigned k = 0; k < i; k++) {
      if (places[k].station != to->station) continue;
      return tt_fail(store->error, TT_INVALID, "%s.place: '%s' is listed already; remove one",
                     where, from->place);
    }
    TT_TRY(check_coordinate(from->x, "x", where, &to->x, store->error));
    TT_TRY(check_coordinate(from->y, "y", where, &to->y, store->error));
    TT_TRY(check_heading(from->heading, where, &to->heading, store->error));
  }
  store->scene.places = places;
  store->scene.place_count = (int)keys->stations_count;
  return TT_OK;
}

static tt_status load_field(tt_scene_store *store, const tt_arena_keys *keys, const char *file) {
  tt_field *field = &store->scene.field;
  const tt_field_keys *from = keys->field;
  char where[PATH_MAX + 32];
  if (!from) return TT_OK;
  snprintf(where, sizeof where, "%s: field", file);
  TT_TRY(check_coordinate(from->x, "x", where, &field->x, store->error));
  TT_TRY(check_coordinate(from->y, "y", where, &field->y, store->error));
  return check_heading(from->heading, where, &field->heading, store->error);
}

tt_status tt_load_arena(tt_scene_store *store) {
  tt_scene *scene = &store->scene;
  if (!store->keys->arena) return TT_OK;
  const char *where, *file;
  PRINT(store, where, "%s: arena", scene->path);
  TT_TRY(tt_load_find(store, &tt_data_arena, store->keys->arena, scene->path, where, &file));
  if (!tt_load_is_yaml(file)) {
    scene->arena_file = file;
    return TT_OK;
  }
  tt_arena_keys *keys;
  TT_TRY(tt_load_yaml(store, file, "arena", store->schemas.arena, (void **)&keys));
  TT_TRY(tt_load_find_model(store, keys->model, file, &scene->arena_file));
  TT_TRY(load_field(store, keys, file));
  TT_TRY(load_pieces(store, keys, file));
  scene->surface_count = (int)keys->bodies_count;
  TT_TRY(tt_load_surfaces(store, keys->bodies, keys->bodies_count, file, &scene->surfaces));
  TT_TRY(load_stations(store, keys, file));
  return load_lines(store, keys, file);
}
