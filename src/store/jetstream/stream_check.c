/* stream_check.c: a stream or bucket that is there is taken as it is: what is wrong with it is refused, or warned of. */
#include "store/jetstream/stream_check.h"

#include "base/log.h"
#include "store/jetstream/message.h"
#include "store/map.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define LONGEST_WARNING 512

/** Whether nobody has said it yet. A program has several links, and opens them again and again. */
static bool is_new(const char *text) {
  static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  static tt_map said; /* hashes of what was said */
  const tt_map_key key = tt_map_key_of(text, strlen(text));
  pthread_mutex_lock(&mutex);
  const bool new = !tt_map_get(&said, key);
  if (new) tt_map_put(&said, key, 1);
  pthread_mutex_unlock(&mutex);
  return new;
}

__attribute__((format(printf, 1, 2))) static void warn_once(const char *format, ...) {
  char text[LONGEST_WARNING];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  if (is_new(text)) tt_log_warning("%s", text);
}

void tt_nats_warn_of_short(const char *who, int64_t most, const char *remedy) {
  if (most > 0 && most < TT_NATS_MESSAGE_MOST)
    warn_once(
        "nats: %s takes messages of at most %lld bytes; what comes in longer ones waits "
        "until it takes %d: %s",
        who, (long long)most, TT_NATS_MESSAGE_MOST, remedy);
}

/** A limit that refuses is heard of; one that drops is not. */
static void warn_of_limits(const jsStreamConfig *config) {
  const bool full = config->MaxMsgs > 0 || config->MaxBytes > 0;
  if ((!full || config->Discard == js_DiscardNew) && config->MaxAge <= 0 &&
      config->MaxMsgsPerSubject <= 0)
    return;
  warn_once(
      "nats: the stream %s drops its oldest messages, also those that no writer has "
      "stored yet; give it no max_age and no max_msgs_per_subject, and with max_msgs or "
      "max_bytes discard new",
      config->Name);
}

static void warn_of_servers(const jsStreamConfig *config, int replicas) {
  if (config->Storage == js_MemoryStorage)
    warn_once(
        "nats: the stream %s is kept in memory: what it has is lost with its servers; remove it "
        "once writers have stored all, and a collector makes it anew on disk",
        config->Name);
  if (config->Replicas < replicas)
    warn_once(
        "nats: the stream %s is kept by %lld of %d servers that the URL says; change it: "
        "nats stream edit %s --replicas=%d",
        config->Name, (long long)config->Replicas, replicas, config->Name, replicas);
}

tt_status tt_nats_check_stream(const jsStreamConfig *config, int replicas, tt_error *error) {
  if (config->Retention != js_LimitsPolicy)
    return tt_fail(error, TT_INVALID,
                   "nats: the stream %s is no log: it removes what was taken (retention %s); give "
                   "the log another name, nats://HOST/NAME, or remove the stream, and a collector "
                   "makes it anew",
                   config->Name, config->Retention == js_InterestPolicy ? "interest" : "workqueue");
  tt_nats_warn_of_short("the stream", config->MaxMsgSize, "give it no max_msg_size");
  warn_of_limits(config);
  warn_of_servers(config, replicas);
  return TT_OK;
}

void tt_nats_check_bucket(const jsStreamConfig *config, int replicas) {
  if (config->MaxAge > 0)
    warn_once(
        "nats: the bucket %s forgets names, handling and boot epochs after a time; give it none: "
        "nats stream edit %s --max-age=0",
        config->Name, config->Name);
  warn_of_servers(config, replicas);
}
