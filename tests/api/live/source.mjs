// Listens as a page does, with fetch: prints the kind of each event and the note's id, and ends
// after so many. source.mjs URL COUNT
const [target, count] = process.argv.slice(2);
const response = await fetch(target, { headers: { accept: 'text/event-stream' } });
let text = '';
let seen = 0;
for await (const piece of response.body.pipeThrough(new TextDecoderStream())) {
  text += piece;
  for (let end; (end = text.indexOf('\n\n')) >= 0; text = text.slice(end + 2)) {
    const fields = Object.fromEntries(text.slice(0, end).split('\n').map((line) => line.split(/: (.*)/s)));
    if (!fields.event) continue;
    console.log(fields.event, JSON.parse(fields.data).item?.noteId ?? '');
    if (++seen === Number(count)) process.exit(0);
  }
}
