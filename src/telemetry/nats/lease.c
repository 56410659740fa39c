/* lease.c */
#include "telemetry/nats/lease.h"

#include <glib.h>
#include <unistd.h>

#define KEY "collector"

tt_status tt_nats_lease_open(tt_nats_lease *lease, jsCtx *js, const char *bucket, int replicas,
                             tt_error *error) {
  natsStatus status = js_KeyValue(&lease->keys, js, bucket);
  if (status == NATS_NOT_FOUND) {
    kvConfig config;
    kvConfig_Init(&config);
    config.Bucket = bucket;
    config.History = 1;
    config.TTL = TT_NATS_LEASE * 1000;
    config.Replicas = replicas;
    status = js_CreateKeyValue(&lease->keys, js, &config);
  }
  if (status != NATS_OK) return tt_nats_fail(status, "the bucket of who takes", error);
  lease->revision = 0;
  g_snprintf(lease->holder, sizeof lease->holder, "%.60s %d %08x", g_get_host_name(), (int)getpid(),
             g_random_int());
  return TT_OK;
}

/** Who has it: NATS's client gives a text that others may have put there. */
static void look(tt_nats_lease *lease) {
  kvEntry *entry = NULL;
  const char *text = NULL;
  if (kvStore_Get(&entry, lease->keys, KEY) == NATS_OK) text = kvEntry_ValueString(entry);
  bool fit = text && g_utf8_validate(text, -1, NULL);
  g_strlcpy(lease->known, fit ? text : "", sizeof lease->known);
  kvEntry_Destroy(entry);
}

tt_status tt_nats_lease_hold(tt_nats_lease *lease) {
  natsStatus status =
      lease->revision
          ? kvStore_UpdateString(&lease->revision, lease->keys, KEY, lease->holder, lease->revision)
          : kvStore_CreateString(&lease->revision, lease->keys, KEY, lease->holder);
  if (status == NATS_OK) {
    g_strlcpy(lease->known, lease->holder, sizeof lease->known);
    return TT_OK;
  }
  lease->revision = 0;
  look(lease);
  return status == NATS_NO_RESPONDERS ? TT_FAILED : TT_AGAIN;
}

void tt_nats_lease_close(tt_nats_lease *lease) {
  if (lease->keys && lease->revision) kvStore_Delete(lease->keys, KEY);
  kvStore_Destroy(lease->keys);
  *lease = (tt_nats_lease){0};
}
