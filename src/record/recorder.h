/* recorder.h: keeps a run: every signal, command, pose and event, and the journal that a proof needs, in one
 * WPILOG file written by a thread of its own. The world's thread only copies. In real time samples may be lost by a slow
 * disk (counted); the journal never is, short of marking the run unverifiable. In the other paces the world waits. A crash loses at most 100 ms, a failure of the power a second.
 *
 * docs/runs.md describes the entries. */
#ifndef TT_RECORD_RECORDER_H
#define TT_RECORD_RECORDER_H

#include "game/field.h"
#include "base/file.h"
#include "sim/journal.h"
#include "model/observer.h"
#include "model/shape.h"
#include "model/signal.h"
#include "base/status.h"

#include <stdbool.h>
#include <stdint.h>

typedef struct tt_recorder tt_recorder;

typedef struct tt_recorder_options {
  const char *path;
  const char *run;   /**< JSON object: version, build, scene, settings, pace, seed, model hash */
  const char *model; /**< JSON object of tt_describe_sim(), or NULL */
  const tt_mesh *meshes; /**< that its shapes name */
  int mesh_count;
  const tt_file *files; /**< what a replay needs: scene, robot, arena, model, mesh, Lua */
  int file_count;
  /** Gives counters of the run so far as a JSON object, free()d by the recorder; asked once a second and at the end,
   *  in the recorder's thread. NULL: none are kept. */
  char *(*statistics)(void *context);
  void *statistics_context;
  /** Told the file's size once a second, in the recorder's thread, with the same context. May be NULL. */
  void (*grew)(void *context, uint64_t bytes);
  /** tt_world_save() or tt_sim_save() at the start, or NULL: the scene's own initial state */
  const void *initial_state;
  size_t initial_state_size;
  uint64_t period_steps; /**< signals are kept at most this often; 0: every tick */
  tt_field field;        /**< in which poses are kept */
  bool placed;           /**< physics is off: commands place robots */
  /** bytes; from nine tenths of it on the journal alone is kept, beyond it nothing; 0: none */
  uint64_t size_cap;
  bool realtime; /**< never wait for the disk; otherwise the world may be held */
} tt_recorder_options;

/** Creates the file (refusing to overwrite anything that is not empty) and starts the threads. `model` and
 *  `names` must outlive the recorder. TT_FULL: the disk has no room even for its beginning, and nothing of it stays. */
tt_status tt_recorder_open(const tt_recorder_options *options, const tt_model *model,
                           const tt_names *names, tt_recorder **recorder, tt_error *error);
/** What a run may take, for estimates: bytes of a sample in which everything moved, and at most of a tick's state hash and of a
 *  message with so many commands. 0 when out of memory. */
uint64_t tt_recorder_sample_bytes(const tt_model *model, const tt_names *names, bool placed);
#define TT_RECORDER_TICK_BYTES 21u
#define TT_RECORDER_MESSAGE_BYTES(commands) (20u + 9u * (uint64_t)(commands))
/** To add to the world. Owned by the recorder. */
tt_observer *tt_recorder_observer(tt_recorder *recorder);
tt_journal_sink *tt_recorder_journal(tt_recorder *recorder);
/** Writes what is left, closes the file, says how much was kept. After the world's last tick. */
void tt_recorder_close(tt_recorder *recorder);
/** The same; TT_FAILED: not all of the run is in the file, and `error` says why and from where on. */
tt_status tt_recorder_end(tt_recorder *recorder, tt_error *error);
/** In a child of fork(), where it has no threads: lets go of it and of the file, which is the parent's. */
void tt_recorder_abandon(tt_recorder *recorder);
/** TT_OK while everything is kept. TT_FAILED as from tt_recorder_end(). Any thread. */
tt_status tt_recorder_trouble(tt_recorder *recorder, tt_error *error);
/** Did the disk refuse something, so that nothing more is kept? Any thread. */
bool tt_recorder_broken(const tt_recorder *recorder);
/** Any thread. */
uint64_t tt_recorder_bytes(const tt_recorder *recorder);
uint64_t tt_recorder_lost(const tt_recorder *recorder);

#endif
