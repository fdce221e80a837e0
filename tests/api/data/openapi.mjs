// Validates the OpenAPI document at the URL that is given: schema and semantics, all references.
import SwaggerParser from '@apidevtools/swagger-parser';

const document = await (await fetch(process.argv[2])).json();
const paths = Object.keys(document.paths).length;
await SwaggerParser.validate(document);
console.log(`${document.openapi} valid, ${paths} paths`);
