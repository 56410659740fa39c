/* world_event.c: what people want to know of a world, told to its observers and its log. */
#include "host/world_internal.h"

#include <stdarg.h>

void tt_world_show_event(tt_world *world, uint64_t step, const char *source, const char *text) {
  for (int i = 0; i < world->observer_count; i++)
    if (world->observers[i]->event)
      world->observers[i]->event(world->observers[i], step, source, text);
}

void tt_world_event_va(tt_world *world, const char *source, const char *format, va_list arguments) {
  tt_sim_event_va(world->sim, source, format, arguments);
}

void tt_world_event(tt_world *world, const char *source, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  tt_sim_event_va(world->sim, source, format, arguments);
  va_end(arguments);
}
