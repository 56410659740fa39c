/* connection.c: connections, and what goes wrong with them in words that name the remedy. */
#include "broker/broker.h"

#include <stdio.h>
#include <string.h>

/** ms. A server that has not answered three pings is gone: it is to be said within two seconds. */
#define CONNECT_PATIENCE 2000
#define PING_INTERVAL 400

/** What to do about a status that trying again doesn't mend; NULL: it may. */
static const char *remedy_of(natsStatus status) {
  switch (status) {
    case NATS_CONNECTION_AUTH_FAILED:
      return "give nats://USER:PASSWORD@HOST or ?creds=FILE of a user that the server knows";
    case NATS_SECURE_CONNECTION_REQUIRED: return "it speaks TLS only: give ?ca=FILE";
    case NATS_SECURE_CONNECTION_WANTED: return "it speaks no TLS: leave ca=FILE out";
    case NATS_NOT_PERMITTED: return "the user needs more permissions: docs/fleet.md lists them";
    case NATS_SSL_ERROR:
      return "its certificate has to be signed by one of ?ca=FILE and to name this host; where it "
             "asks for ours, give cert=FILE&key=FILE";
    case NATS_INVALID_ARG:
    case NATS_ILLEGAL_STATE: return "docs/fleet.md says what stands in such a URL";
    default: return NULL;
  }
}

tt_status tt_nats_fail(natsStatus status, const char *what, tt_error *error) {
  if (status == NATS_NO_MEMORY) return tt_fail(error, TT_NOMEM, "out of memory");
  natsStatus last = NATS_OK;
  const char *said = nats_GetLastError(&last);  // of this thread: "(FILE:LINE): WHY"
  const char *why = said && last == status ? strstr(said, "): ") : NULL;
  const char *remedy = remedy_of(status);
  return tt_fail(error, remedy ? TT_INVALID : TT_FAILED, "nats: %s: %s%s%s", what,
                 why ? why + 3 : natsStatus_GetText(status), remedy ? "; " : "",
                 remedy ? remedy : "");
}

tt_status tt_nats_fail_request(natsConnection *connection, natsStatus status, const char *what,
                               tt_error *error) {
  const char *said = NULL;
  if (status == NATS_TIMEOUT &&
      natsConnection_GetLastError(connection, &said) == NATS_NOT_PERMITTED && said)
    return tt_fail(error, TT_INVALID, "nats: %s: %.200s; %s", what, said,
                   remedy_of(NATS_NOT_PERMITTED));
  if (status == NATS_NO_RESPONDERS)
    return tt_fail(error, TT_FAILED,
                   "nats: %s: nobody answers; start nats-server with --jetstream, or more of a "
                   "cluster's servers",
                   what);
  return tt_nats_fail(status, what, error);
}

bool tt_nats_is_missing(natsStatus status, jsErrCode code) {
  return status == NATS_NOT_FOUND || code == JSStreamNotFoundErr || code == JSConsumerNotFoundErr;
}

/** What the server says between is told to whoever asks next. */
static void ignore_error(natsConnection *connection, natsSubscription *subscription,
                         natsStatus status, void *context) {
  (void)connection, (void)subscription, (void)status, (void)context;
}

#define TRY(call, what)                                                                            \
  do {                                                                                             \
    natsStatus status_of_call = (call);                                                            \
    if (status_of_call != NATS_OK) return tt_nats_fail(status_of_call, what, error);               \
  } while (0)

static tt_status set_files(natsOptions *options, const tt_nats_address *address, tt_error *error) {
  if (address->creds)
    TRY(natsOptions_SetUserCredentialsFromFiles(options, address->creds, NULL), address->creds);
  if (address->ca) {
    TRY(natsOptions_SetSecure(options, true), "TLS");
    TRY(natsOptions_LoadCATrustedCertificates(options, address->ca), address->ca);
  }
  if (address->cert)
    TRY(natsOptions_LoadCertificatesChain(options, address->cert, address->key), address->cert);
  return TT_OK;
}

static tt_status set_options(natsOptions *options, const tt_nats_address *address,
                             tt_error *error) {
  TRY(natsOptions_SetServers(options, (const char **)address->each, address->count),
      address->servers);
  natsOptions_SetName(options, "tether");
  natsOptions_SetTimeout(options, CONNECT_PATIENCE);
  natsOptions_SetAllowReconnect(options, false);
  natsOptions_SetNoEcho(options, true);
  natsOptions_SetPingInterval(options, PING_INTERVAL);
  natsOptions_SetMaxPingsOut(options, 2);
  natsOptions_SetErrorHandler(options, ignore_error, NULL);
  if (address->user)
    TRY(natsOptions_SetUserInfo(options, address->user, address->password), address->servers);
  return set_files(options, address, error);
}

/** Whether a server that asks for a certificate was not given one is not told: it just goes. */
static tt_status fail_connecting(const tt_nats_address *address, natsStatus status,
                                 tt_error *error) {
  tt_status failed = tt_nats_fail(status, address->servers, error);
  const size_t size = strlen(error->text);
  bool gone =
      status == NATS_PROTOCOL_ERROR || status == NATS_IO_ERROR || status == NATS_CONNECTION_CLOSED;
  if (gone && address->ca)
    snprintf(error->text + size, sizeof error->text - size, "; %s",
             address->cert ? "is cert=FILE signed by one that it trusts?"
                           : "where it asks for our certificate, give cert=FILE&key=FILE");
  return failed;
}

tt_status tt_nats_connect(const tt_nats_address *address, natsConnection **connection,
                          tt_error *error) {
  natsOptions *options = NULL;
  TRY(natsOptions_Create(&options), "options");
  tt_status status = set_options(options, address, error);
  if (status == TT_OK) {
    natsStatus connected = natsConnection_Connect(connection, options);
    if (connected != NATS_OK) status = fail_connecting(address, connected, error);
  }
  natsOptions_Destroy(options);
  return status;
}
