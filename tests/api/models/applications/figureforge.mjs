// What FigureForge's code writes: snake case, epoch seconds, and null for what is not there.
import { day, put, remove, update } from './build.mjs';

const T = 'figureforge';
const at = (n) => 1710000000 + 60 * day(n);

function image(n, user_id, more = {}) {
    return {
        pk: `IMG#i-${n}`, sk: 'META', ...(user_id && { imagesByUser_pk: `USER#${user_id}` }), user_id, url: 'https://cdn/x/img.jpg',
        tags: ['pose:standing', 'style:comic'], prompt_json: { prompt: 'a knight', negative_prompt: null, tags: ['pose:standing'] },
        provider: 'fal.ai', provider_model_id: 'fal/sdxl-foo', cost_cents: 12, favorited_count: 0, public: true, private_gallery_ids: [],
        flag_status: 'clean', created_at: at(n), deleted_at: null, ...more,
    };
}

export function documented(n) {
    const [user, now] = [`f-${n}`, at(n)];
    return [
        put(T, {
            pk: `USER#${user}`, sk: 'PROFILE', byEmail_pk: `EMAIL#F${n}+a#b@example.com`, byEmail_sk: `USER#${user}`, user_id: user,
            email: `F${n}+a#b@example.com`, created_at: now, deleted_at: null,
        }, { ConditionExpression: 'attribute_not_exists(pk)' }),
        put(T, {
            pk: `USER#${user}`, sk: `SUB#sub_${n}`, byStripeSub_pk: `SUB#sub_${n}`, byStripeSub_sk: `USER#${user}`, plan_id: null, status: 'active',
            created_at: now, deleted_at: null,
        }),
        update(T, { pk: `USER#${user}`, sk: `SUB#sub_${n}` }, 'SET #status = :s, plan_id = :p', { s: 'past_due', p: 'pro' }),
        put(T, { pk: `USER#${user}`, sk: `JOB#j-${n}`, jobsByStatus_pk: 'JOBSTATUS#queued', status: 'queued', created_at: now, deleted_at: null }),
        update(T, { pk: `USER#${user}`, sk: `JOB#j-${n}` }, 'SET #status = :s, jobsByStatus_pk = :g', { s: 'done', g: 'JOBSTATUS#done' }),
        // The server makes the items of its tags.
        put(T, image(n, user, { tags: ['pose:standing', 'style:comic', 'mood:#1'] })),
        put(T, image(`teaser-${n}`, null, { prompt_json: null, tags: null, cost_cents: null, private_gallery_ids: null })),
        update(T, { pk: `IMG#i-${n}`, sk: 'META' }, 'ADD favorited_count :one', { one: 1 }),
        update(T, { pk: `IMG#i-${n}`, sk: 'META' }, 'SET flag_status = :f, #public = :no', { f: 'human_pending', no: false }),
        put(T, { pk: `IMG#i-${n}`, sk: `REPORT#r-${n}`, reportsByStatus_pk: 'REPORTSTATUS#open', status: 'open', reason: null, created_at: now, deleted_at: null }),
        update(T, { pk: `IMG#i-${n}`, sk: `REPORT#r-${n}` }, 'SET #status = :s, reportsByStatus_pk = :g', { s: 'closed', g: 'REPORTSTATUS#closed' }),
        put(T, { pk: 'FEATUREFLAG#global', sk: `flag-${n}`, enabled: true, created_at: now, deleted_at: null }),
        put(T, { pk: `PLAN#p-${n}`, sk: 'META', plansByActive_pk: 'PLANACTIVE#true', name: null, active: true, created_at: now, deleted_at: null }),
        update(T, { pk: `PLAN#p-${n}`, sk: 'META' }, 'SET active = :no, plansByActive_pk = :g', { no: false, g: 'PLANACTIVE#false' }),
        // Soft delete, and back.
        update(T, { pk: `IMG#i-${n}`, sk: 'META' }, 'SET deleted_at = :now', { now: now + 5 }),
        update(T, { pk: `IMG#i-${n}`, sk: 'META' }, 'SET deleted_at = :null', { null: null }),
        update(T, { pk: `USER#${user}`, sk: 'PROFILE' }, 'SET deleted_at = :now', { now: now + 6 }),
        remove(T, { pk: `PLAN#p-${n}`, sk: 'META' }),
    ];
}

export function habits(n) {
    const [user, now] = [`f-${n}`, at(n)];
    return [
        put(T, { pk: `USER#${user}`, sk: `GALLERY#g-${n}`, name: 'Knights', images: [`i-${n}`], created_at: now, deleted_at: null }),
        put(T, { pk: `AUDIT#${n}`, sk: `AT#${now}`, action: 'login', user_id: user, created_at: now }),
        put(T, image(`h-${n}`, user, { url: null, flag_status: 'appealed', cost_cents: '12', seed: 7, prompt_json: { prompt: null, steps: 30 } })),
        update(T, { pk: `USER#${user}`, sk: `JOB#j-${n}` }, 'SET progress = :p, #error = :e', { p: 0.5, e: null }),
        put(T, { pk: 'FEATUREFLAG#global', sk: `flag-h-${n}`, enabled: 'yes', rollout: { percent: 5 }, created_at: now, deleted_at: null }),
    ];
}
