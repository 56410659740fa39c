/* model_notes.h: what deserves a look in a model that loads: it does as it says, and perhaps not what was meant. */
#ifndef TT_DRAFT_MODEL_NOTES_H
#define TT_DRAFT_MODEL_NOTES_H

#include "scene/scene.h"

/** Hears of one; `line` of the model's file, from 1. */
typedef void tt_model_note(void *context, const char *path, int line, const char *text);

/** Looks through a robot's model: a base that is fixed and for which nobody decided that, links without inertia, joints without limits. Reads
 *  the file; one that is no XML has no notes. */
void tt_model_notes(const tt_scene_robot *robot, tt_model_note *note, void *context);

#endif
