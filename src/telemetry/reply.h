/* reply.h: what a sender of messages is answered, a line of XML each, over whatever it spoke. */
#ifndef TT_TELEMETRY_REPLY_H
#define TT_TELEMETRY_REPLY_H

#include "telemetry/collector.h"
#include "telemetry/message.h"

/** <ACK id='…' time='…'/>: the message is stored durably; `time` as the device gave it, ms. g_free() it. */
/** With how many values were dropped and why, from `origin`. */
char *tt_reply_ack(const tt_message *message, const tt_origin *origin);
/** <REFUSED line='…' column='…' reason='…'/>: nothing of the message was taken. g_free() it. */
char *tt_reply_refused(const tt_message_refusal *refusal);

#endif
