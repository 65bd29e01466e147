// What the page begins with.

export const kExampleAnswers = `Who are you? | I am a small model, and I have read one book.
What is edgegrad? | It trains models in your browser.
Where do you run? | On this device, without a server.
What have you read? | Moby-Dick, from the first page to the last.
Do you like whales? | Yes, but I like gradients more.
What is an adapter? | A few numbers beside a model that stays as it is.
Can I keep what you learn? | Yes, download the adapter.
Good night! | Sleep well, and mind the harpoons.`;

export const kExampleText = `Dear keeper of the north light,
the boat with the bread came late again, so we baked our own. Take four cups of flour, one cup of warm milk, a spoon of salt and a spoon of honey. Knead it until the lamp has turned a hundred times. Let it rest beside the stove. When it has doubled, bake it until the crust sings.
The gulls have learned to knock at the window. I counted nine of them this morning, and each had an opinion about the bread. The lamp is clean, the log is written, and the wind has turned to the west.
Write soon, and send the good candles.
Your friend at the south light`;
