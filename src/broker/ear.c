/* ear.c: subscriptions that can be waited for. */
#include "broker/broker.h"

static void on_over(void *context) { sem_post(&((tt_nats_ear *)context)->over); }

natsStatus tt_nats_ear_open(tt_nats_ear *ear, natsStatus subscribed, int most) {
  if (subscribed != NATS_OK) return subscribed;
  sem_init(&ear->over, 0, 0);
  natsSubscription_SetPendingLimits(ear->subscription, -1, most);
  natsStatus status = natsSubscription_SetOnCompleteCB(ear->subscription, on_over, ear);
  if (status == NATS_OK) return NATS_OK;
  // It was lost meanwhile: without a connection nothing comes any more.
  natsSubscription_Destroy(ear->subscription);
  ear->subscription = NULL;
  sem_destroy(&ear->over);
  return status;
}

void tt_nats_ear_close(tt_nats_ear *ear) {
  if (!ear->subscription) return;
  natsSubscription_Unsubscribe(ear->subscription);
  while (sem_wait(&ear->over) != 0) continue;
  natsSubscription_Destroy(ear->subscription);
  sem_destroy(&ear->over);
  ear->subscription = NULL;
}
