/* plan_hash.h: the hash that ids are made of, and the files that stand in it, which must not change while runs are made. */
#ifndef TT_SWEEP_PLAN_HASH_H
#define TT_SWEEP_PLAN_HASH_H

#include "sweep/plan_internal.h"

/** NULL when out of memory. */
tt_plan_hash *tt_plan_hash_new(void);
void tt_plan_hash_free(tt_plan_hash *hash);
/** Forgets all. */
void tt_plan_hash_restart(tt_plan_hash *hash);

/* Each goes on with what it is given. A text has its length before it, so that two in a row are not two others. */
void tt_plan_hash_number(tt_plan_hash *hash, uint64_t number);
void tt_plan_hash_double(tt_plan_hash *hash, double number);
void tt_plan_hash_text(tt_plan_hash *hash, const char *text);
/** With name and content, wherever it stands; and keeps it in mind for tt_sweep_plan_check_files(). May block. */
tt_status tt_plan_hash_file(tt_plan_store *store, tt_plan_hash *hash, const char *path);
/** The same with all files that a scene was made of. */
tt_status tt_plan_hash_scene(tt_plan_store *store, tt_plan_hash *hash, const tt_scene *scene);

/** What all until now comes to: 16 bytes; as 32 hexadecimal digits. */
void tt_plan_hash_digest(const tt_plan_hash *hash, unsigned char digest[16]);
void tt_plan_hash_write(const tt_plan_hash *hash, char text[33]);

#endif
