/* machine.h: the sections of a scene that say what the machine does, and not what happens on the field: files, stores, ports, tokens. */
#ifndef TT_SCENE_MACHINE_H
#define TT_SCENE_MACHINE_H

#include <stdbool.h>

/** Their keys; NULL-terminated. */
extern const char *const tt_machine_sections[];

/** Is the setting PATH=VALUE one of them, or of a key in one? */
bool tt_setting_is_of_machine(const char *setting);

#endif
