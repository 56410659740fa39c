/* body.h: what a request's body says. */
#ifndef TT_WEB_BODY_H
#define TT_WEB_BODY_H

#include "base/json.h"

#include <glib.h>

/** A body, whose size its route has bounded, as the JSON object that it is to be; see tt_json_read(). Any thread. */
tt_status tt_web_read_json(GBytes *body, struct json_object **object, tt_error *error);

#endif
