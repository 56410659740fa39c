// A plain table of stored telemetry. Cells are set as text, never as HTML.
'use strict';

const form = document.getElementById('query');
const message = document.getElementById('message');

function queryString() {
  const query = new URLSearchParams();
  for (const [key, value] of new FormData(form)) {
    if (value) query.set(key, value);
  }
  query.set('time', 'iso');
  return query.toString();
}

function row(cells, tag) {
  const tr = document.createElement('tr');
  for (const cell of cells) {
    const element = document.createElement(tag);
    element.textContent = cell === null ? '' : cell;
    tr.append(element);
  }
  return tr;
}

async function show() {
  const query = queryString();
  for (const link of document.querySelectorAll('a[data-format]')) {
    link.href = `/telemetry.${link.dataset.format}?${query}`;
  }
  const response = await fetch(`/telemetry.json?${query}`);
  const table = await response.json();
  const head = document.querySelector('thead'), body = document.querySelector('tbody');
  head.replaceChildren();
  body.replaceChildren();
  if (!response.ok) {
    message.textContent = table.error;
    return;
  }
  head.append(row(table.header, 'th'));
  for (const record of table.records) body.append(row(record, 'td'));
  message.textContent = `${table.records.length} records`;
}

form.addEventListener('submit', (event) => {
  event.preventDefault();
  show().catch((error) => { message.textContent = String(error); });
});
form.requestSubmit();
