// A support desk, as a OneTable schema.
import { Table } from 'dynamodb-onetable'

const Match = {
    email: /^[^\s@]+@[^\s@]+$/,
}

export const Schema = {
    format: 'onetable:1.1.0',
    version: '0.3.0',
    indexes: {
        primary: { hash: 'pk', sort: 'sk' },
        gs1: { hash: 'gs1pk', sort: 'gs1sk', follow: true },
        gs2: { hash: 'gs2pk', sort: 'gs2sk', project: ['subject', 'status'] },
        ls1: { sort: 'priority', type: 'local' },
    },
    models: {
        Account: {
            pk: { type: String, value: 'account#${id}' },
            sk: { type: String, value: 'account#' },
            id: { type: String, generate: 'ulid' },
            name: { type: String, required: true, unique: true },
            balance: { type: Number, default: 0 },
            plan: { type: String, enum: ['free', 'team', 'enterprise'], default: 'free', required: true },
            settings: {
                type: Object,
                schema: {
                    locale: { type: String, required: true },
                    limits: { type: Object, schema: { agents: { type: Number }, tickets: { type: Number } } },
                },
            },
        },
        User: {
            pk: { type: String, value: 'account#${accountId}' },
            sk: { type: String, value: 'user#${email}' },
            gs1pk: { type: String, value: 'user#' },
            gs1sk: { type: String, value: 'user#${email}' },
            accountId: { type: String, required: true },
            email: { type: String, required: true, validate: Match.email },
            first: { type: String },
            last: { type: String },
            fullName: { type: String, value: '${first} ${last}' }, // computed
            roles: { type: Array, items: { type: String, enum: ['agent', 'admin'] } },
            active: { type: Boolean, default: true },
            joined: { type: Date },
            nick: { type: String, map: 'nk' },
        },
        Ticket: {
            pk: { type: String, value: 'account#${accountId}' },
            sk: { type: String, value: 'ticket#${seq:7:0}' },
            gs1pk: { type: String, value: 'ticket#' },
            gs1sk: { type: String, value: 'ticket#${status}#${seq:7:0}' },
            gs2pk: { type: String, value: 'agent#${assignee}' },
            gs2sk: { type: String, value: '${status}#${seq:7:0}' },
            accountId: { type: String, required: true },
            seq: { type: Number, required: true },
            priority: { type: String },
            subject: { type: String, required: true },
            status: { type: String, enum: ['open', 'waiting', 'closed'], default: 'open' },
            assignee: { type: String, nulls: true },
            watchers: { type: Set },
            messages: { type: Array, items: { type: Object, schema: { from: { type: String, required: true }, text: { type: String } } } },
            slug: { type: String, default: (m) => m.subject.toLowerCase().replace(/\s+/g, '-') },
            expires: { type: Date, ttl: true },
        },
    } as const,
    params: {
        isoDates: true,
        timestamps: true,
        typeField: 'kind',
    },
}
