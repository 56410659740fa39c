/* hand.c: from any thread into a loop's. */
#include "web/server.h"

#include <stdatomic.h>

typedef struct handed {
  atomic_bool ready;
  GSourceFunc function;
  gpointer data;
  GDestroyNotify release;
} handed;

static gboolean call(gpointer data) {
  handed *taken = data;
  atomic_load_explicit(&taken->ready, memory_order_acquire);
  return taken->function(taken->data);
}

static void end(gpointer data) {
  handed *taken = data;
  taken->release(taken->data);
  g_free(taken);
}

/* GLib's lock orders both threads already; `ready` does so where the thread sanitizer sees it. */
void tt_web_hand(GMainContext *context, GSourceFunc function, gpointer data,
                 GDestroyNotify release) {
  handed *made = g_new0(handed, 1);
  GSource *source = g_idle_source_new();
  made->function = function;
  made->data = data;
  made->release = release;
  atomic_store_explicit(&made->ready, true, memory_order_release);
  g_source_set_priority(source, G_PRIORITY_DEFAULT);
  g_source_set_callback(source, call, made, end);
  g_source_attach(source, context);
  g_source_unref(source);
}
