// What the applications' lists of writes are made of: [operation of the document client, its input].
export const put = (TableName, Item, more = {}) => ['Put', { TableName, Item, ...more }];
export const remove = (TableName, Key) => ['Delete', { TableName, Key }];

// UpdateExpression of `change`, with :name for each of the values and #name for each name that it uses.
export function update(TableName, Key, change, values, more = {}) {
    const names = [...new Set(change.match(/#\w+/g) ?? [])];
    return ['Update', {
        TableName,
        Key,
        UpdateExpression: change,
        ...(names.length && { ExpressionAttributeNames: Object.fromEntries(names.map((name) => [name, name.slice(1)])) }),
        ExpressionAttributeValues: Object.fromEntries(Object.entries(values).map(([name, value]) => [`:${name}`, value])),
        ...more,
    }];
}

// Several writes as one transaction.
export const transact = (...writes) =>
    ['TransactWrite', { TransactItems: writes.map(([operation, input]) => ({ [operation]: input })) }];

// A number of its own for 7 and for what is called "h-7".
export const day = (n) => Number(String(n).replace(/\D/g, ''));
