// What the asset pipeline's code writes: job, event and audit entry in one transaction, times in seconds.
import { put, transact, update } from './build.mjs';

const T = 'asset_creator';
const at = (n, second) => `2026-01-29T08:${String(n % 60).padStart(2, '0')}:${String(second).padStart(2, '0')}Z`;

export function documented(n) {
    const [project, job, now, later] = [`PROJECT#prj_${n}`, `job_${n}`, at(n, 0), at(n, 15)];
    const event = (type, payload, id) => put(T, { PK: `OUTBOX#${id}`, SK: `OUTBOX#${id}`, type, payload, status: 'pending', ts: now });
    return [
        put(T, { PK: project, SK: project, name: 'Knights', style_profile: null, quotas: { jobs_per_day: 5 }, created_at: now }),
        transact(
            put(T, {
                PK: project, SK: `JOB#${job}`, asset_type: '3D_CHARACTER', status: 'queued', current_step: null, created_at: now, updated_at: now,
                GSI1PK: 'JOB_STATUS#queued', GSI1SK: now,
            }, { ConditionExpression: 'attribute_not_exists(PK)' }),
            event('job.created', { job_id: job }, `evt_${n}_1`)),
        put(T, { PK: `IDEMPOTENCY#key-${n}`, SK: `IDEMPOTENCY#key-${n}`, job_id: job, step_name: 'retopo', created_at: now, ttl: 4102444800 },
            { ConditionExpression: 'attribute_not_exists(PK)' }),
        put(T, {
            PK: `JOB#${job}`, SK: `STEP#retopo#${now}`, status: 'running', artifacts: [], metrics: {}, error: null, approved_by: null, decided_at: null,
            GSI2PK: 'STEP_STATUS#running', GSI2SK: now,
        }),
        update(T, { PK: `JOB#${job}`, SK: `STEP#retopo#${now}` }, 'SET #status = :s, GSI2PK = :g, artifacts = :a, #metrics = :m',
            { s: 'paused', g: 'STEP_STATUS#paused', a: [{ key: 's3://x/y.glb', bytes: 7 }], m: { tris: 12000, seconds: 1.5 } }),
        update(T, { PK: `JOB#${job}`, SK: `STEP#retopo#${now}` }, 'SET #status = :s, GSI2PK = :g, approved_by = :u, decided_at = :now',
            { s: 'approved', g: 'STEP_STATUS#approved', u: 'ada', now: later }),
        transact(
            update(T, { PK: project, SK: `JOB#${job}` }, 'SET #status = :s, current_step = :c, updated_at = :now, GSI1PK = :g, GSI1SK = :now',
                { s: 'running', c: 'retopo', now: later, g: 'JOB_STATUS#running' }),
            event('job.running', { job_id: job }, `evt_${n}_2`),
            put(T, { PK: project, SK: `AUDIT#${later}#ada`, action: 'approve', details: { step: 'retopo' } })),
        update(T, { PK: `OUTBOX#evt_${n}_1`, SK: `OUTBOX#evt_${n}_1` }, 'SET #status = :s', { s: 'published' }),
        ...[1, 2, 10].map((version) => put(T, {
            PK: project, SK: `ASSET#as_${n}#V#${version}`, type: version > 1 ? '3D' : '2D', files: [{ path: 'a.glb' }], metadata: {}, cdn_url: null, created_at: at(n, version),
            GSI3PK: version > 1 ? 'ASSET_TYPE#3D' : 'ASSET_TYPE#2D', GSI3SK: at(n, version),
        })),
    ];
}

export function habits(n) {
    const [project, job, now] = [`PROJECT#prj_${n}`, `job_${n}`, at(n, 30)];
    return [
        put(T, { PK: `WORKER#w-${n}`, SK: `WORKER#w-${n}`, busy: false, seen_at: now }),
        put(T, { PK: project, SK: `MEMBER#user-${n}`, role: 'artist', invited_by: null }),
        put(T, { PK: project, SK: `ASSET#snd_${n}#V#1`, type: 'AUDIO', files: null, metadata: null, created_at: now, GSI3PK: 'ASSET_TYPE#AUDIO', GSI3SK: now, seconds: 3.5 }),
        put(T, {
            PK: project, SK: `JOB#${job}_h`, asset_type: null, status: 'queued', priority: 3, created_at: now, updated_at: now, GSI1PK: 'JOB_STATUS#queued', GSI1SK: now,
        }),
        put(T, { PK: `OUTBOX#evt_${n}_h`, SK: `OUTBOX#evt_${n}_h`, type: 'job.failed', payload: 'text', status: 'failed', ts: now, attempts: 3 }),
        update(T, { PK: `JOB#${job}`, SK: `STEP#retopo#${at(n, 0)}` }, 'SET retries = :one, #metrics = :none', { one: 1, none: null }),
    ];
}
