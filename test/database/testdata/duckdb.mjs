// Runs statements, given as a JSON list on standard input, and prints the rows of each as a JSON list.
import { createRequire } from 'node:module';
import { readFileSync } from 'node:fs';
const { DuckDBInstance } = createRequire(process.argv[2] + '/')('@duckdb/node-api');
const connection = await (await DuckDBInstance.create(':memory:')).connect();
const answers = [];
for (const statement of JSON.parse(readFileSync(0, 'utf8'))) {
  const reader = await connection.runAndReadAll(statement);
  answers.push(reader.getRowsJson());
}
console.log(JSON.stringify(answers));
