/* record.c: texts of a record while it is gathered. */
#include "store/record.h"

void tt_store_settle_texts(tt_list *cells, const tt_list *text) {
  for (uint32_t i = 0; i < cells->len; i++) {
    tt_store_cell *cell = &tt_list_at(cells, tt_store_cell, i);
    if (cell->text) cell->text = (const char *)text->data + ((uintptr_t)cell->text - 1);
  }
}
