/* attach.h: what watches a running world from outside it: the recorder, telemetry, the pages.
 *
 * Each is one tt_attachment in a file of its own; adding one is a line in attach.c. They open in the order of the
 * table once the world stands, and close in the opposite order after its last tick, when nobody publishes any more.
 */
#ifndef TT_APP_ATTACH_ATTACH_H
#define TT_APP_ATTACH_ATTACH_H

#include "app/fork.h"
#include "app/options.h"
#include "scene/scene.h"
#include "host/world.h"

#include <limits.h>

/** What an attachment may look at. All outlive it. */
typedef struct tt_attach_context {
  const tt_scene *scene;
  const tt_scene_options *options;
  tt_world *world;
  /** from which the world starts, as tt_world_save() gives it; NULL: the scene's own */
  const void *initial_state;
  size_t initial_state_size;
  /** a kept run is shown, not a new one made; NULL: the usual */
  const struct tt_attached_run *kept;
  /** What the recorder calls this run, for those behind it in the table; "" where nothing is kept. Set by tt_attach_all(). */
  struct tt_run_reference *run;
  const tt_fork *fork; /**< the run goes on from a kept one; NULL: it begins at its beginning */
  bool unlisted;       /**< its log goes away again: it is not put into the list of kept runs */
  struct tt_scene_choice *choice; /**< of another scene, in the pages; NULL: there is none */
  /** Where telemetry leaves its collector for those behind it in the table; NULL inside where there is none. Set by
   *  tt_attach_all(). */
  struct tt_collector **collector;
} tt_attach_context;

/** How others refer to the run that is being kept. */
typedef struct tt_run_reference {
  char id[33];         /**< 128 random bits in hexadecimal: a log may be moved, this stays */
  char file[PATH_MAX]; /**< absolute */
} tt_run_reference;

/** A kept run that is shown in place of a new one. Only attachments that say so open then. */
typedef struct tt_attached_run {
  const char *name;
  double begin, duration; /**< s: where it begins, and ends */
} tt_attached_run;

typedef struct tt_attachment {
  const char *name; /**< in the ready line: "web" */
  /** Adds its observers and journal sinks to the world. `*self` stays NULL when the scene does not ask for it. */
  tt_status (*open)(const tt_attach_context *context, void **self, tt_error *error);
  /** Once all are open, and the run is accepted, before the world's first tick: what a run that is refused must not leave behind is done
   *  here. May be NULL. */
  tt_status (*begin)(void *self, tt_error *error);
  /** For the ready line, "http://127.0.0.1:8080"; NULL: nothing to say. May be NULL. */
  const char *(*address)(void *self);
  /** Appends to the status line what is wrong, " | …"; nothing as long as all is well. Any thread. May be NULL. */
  size_t (*trouble)(void *self, char *text, size_t size);
  void (*close)(void *self);
  bool shows; /**< also opens for a kept run */
} tt_attachment;

typedef struct tt_attached tt_attached;
/** Opens all, then begins all. On failure what was open is closed again. */
tt_status tt_attach_all(const tt_attach_context *context, tt_attached **attached, tt_error *error);
/** Writes " name=address" of each that has one. Returns the length written. */
size_t tt_attached_addresses(const tt_attached *attached, char *line, size_t size);
/** Writes what each has to complain of, "" if nothing. Any thread. */
void tt_attached_troubles(const tt_attached *attached, char *line, size_t size);
/** Closes all; the world no longer publishes or journals to anybody. */
void tt_attached_close(tt_attached *attached);

/** Those there are, each in the file of its name. */
extern const tt_attachment tt_record_attachment;
/** Closes the recorder as its attachment's close() does. TT_FAILED: not all of the run is in its log, and `error`, which may be NULL,
 *  says why. */
tt_status tt_record_end(void *self, tt_error *error);
extern const tt_attachment tt_telemetry_attachment;
/** What it would refuse as it opens, told with its line; nothing is opened. */
tt_status tt_attach_check_telemetry(const tt_scene *scene, tt_error *error);
extern const tt_attachment tt_web_attachment;
extern const tt_attachment tt_nt4_attachment;
extern const tt_attachment tt_foxglove_attachment;

#endif
