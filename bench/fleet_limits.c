/* fleet_limits.c: what bounds a log of telemetry on this machine: the bare publishing of the same bytes, without a collector. Prints
 * messages, bytes, and the seconds until the last one is in the stream.
 *
 *   fleet_limits URL FROM TO REPLICAS   what the stream FROM has into the stream TO, which is made, and removed again
 */
#include "wait_for_go.h"

#include <nats/nats.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define MOST_PENDING 512 /* as the collector */
#define PATIENCE 10000   /* ms */

typedef struct messages {
  natsMsg **items;
  size_t len, bytes;
} messages;

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static void try(natsStatus status, const char *what) {
  if (status == NATS_OK) return;
  fprintf(stderr, "fleet_limits: %s: %s\n", what, natsStatus_GetText(status));
  exit(1);
}

static messages take_all(jsCtx *js, const char *stream) {
  messages taken = {0};
  jsStreamInfo *info = NULL;
  try(js_GetStreamInfo(&info, js, stream, NULL, NULL), "the stream");
  size_t count = (size_t)info->State.Msgs;
  jsStreamInfo_Destroy(info);
  taken.items = calloc(count + 1, sizeof(natsMsg *));
  natsSubscription *subscription;
  jsSubOptions options;
  jsSubOptions_Init(&options);
  options.Stream = stream;
  options.Ordered = true;
  try(js_SubscribeSync(&subscription, js, ">", NULL, &options, NULL), "reading it");
  for (; taken.items && taken.len < count; taken.len++) {
    natsMsg **next = &taken.items[taken.len];
    try(natsSubscription_NextMsg(next, subscription, PATIENCE), "the next message");
    taken.bytes += (size_t)natsMsg_GetDataLength(*next);
  }
  natsSubscription_Destroy(subscription);
  return taken;
}

static void make(jsCtx *js, const char *stream, int replicas) {
  jsStreamConfig config;
  jsStreamConfig_Init(&config);
  const char *subjects[] = {stream};
  config.Name = stream;
  config.Subjects = subjects;
  config.SubjectsLen = 1;
  config.Replicas = replicas;
  config.Duplicates = 120 * INT64_C(1000000000);
  try(js_AddStream(NULL, js, &config, NULL, NULL), "making a stream");
}

static double publish_all(jsCtx *js, const char *stream, const messages *all) {
  const double start = now();
  for (size_t i = 0; i < all->len; i++) {
    char id[40];
    snprintf(id, sizeof id, "%032zu", i);
    jsPubOptions options;
    jsPubOptions_Init(&options);
    options.MsgId = id;
    natsMsg *message = all->items[i];
    try(js_PublishAsync(js, stream, natsMsg_GetData(message), natsMsg_GetDataLength(message),
                        &options),
        "publishing");
  }
  jsPubOptions options;
  jsPubOptions_Init(&options);
  options.MaxWait = 6 * PATIENCE;
  try(js_PublishAsyncComplete(js, &options), "what was published");
  return now() - start;
}

int main(int argc, char **argv) {
  if (argc != 5) {
    fprintf(stderr, "usage: fleet_limits URL FROM TO REPLICAS\n");
    return 2;
  }
  natsConnection *connection;
  jsCtx *js;
  jsOptions options;
  jsOptions_Init(&options);
  options.PublishAsync.MaxPending = MOST_PENDING;
  try(natsConnection_ConnectTo(&connection, argv[1]), "connecting");
  try(natsConnection_JetStream(&js, connection, &options), "JetStream");
  messages all = take_all(js, argv[2]);
  make(js, argv[3], atoi(argv[4]));
  wait_for_go();
  const double took = publish_all(js, argv[3], &all);
  js_DeleteStream(js, argv[3], NULL, NULL);
  printf("%zu %zu %.6f\n", all.len, all.bytes, took);
  for (size_t i = 0; i < all.len; i++) natsMsg_Destroy(all.items[i]);
  free(all.items);
  jsCtx_Destroy(js);
  natsConnection_Destroy(connection);
  return 0;
}
