// What Kinex Fit's code writes: plain records, null for what is not there, times as Date and as seconds.
import { day, put, update } from './build.mjs';

const [USERS, WORKOUTS, DONE, EVENTS] = ['spotter-users', 'spotter-workouts', 'spotter-workout-completions', 'spotter-webhook-events'];
const at = (n, minute) => new Date(Date.UTC(2025, 0, 1 + day(n), 10, minute)).toISOString();

const user = (n, more = {}) => ({
    id: `user-${n}`, email: `K${n}@Example.com`, firstName: null, lastName: null, passwordHash: null, image: null,
    subscriptionTier: 'free', subscriptionStatus: 'inactive', subscriptionStartDate: null, subscriptionEndDate: null, trialEndsAt: null,
    stripeSubscriptionId: null, scanQuotaUsed: 0, scanQuotaResetDate: '2025-01-01T00:00:00Z', ocrQuotaUsed: 0, instagramImportsUsed: 0,
    workoutsSaved: 0, aiRequestsUsed: 0, aiRequestsLimit: 1, currentMonthCost: 0, totalCost: 0, currentMonthTokens: 0, totalTokens: 0,
    lastCostReset: null, trainingProfile: null, onboardingCompleted: false, onboardingCompletedAt: null, createdAt: at(n, 0), updatedAt: at(n, 0), ...more,
});

const workout = (n, more = {}) => ({
    userId: `user-${n}`, id: `workout-${n}`, title: 'Leg Day', description: null, source: 'ai', duration: 60, difficulty: 'intermediate', tags: ['legs'],
    exercises: [
        { id: 'exercise-1', name: 'Back Squat', sets: 5, reps: 5, weight: '275lbs', restSeconds: 180, notes: null, equipment: ['rack'] },
        { id: 'exercise-2', name: 'Plank', sets: 3, reps: 'AMRAP', weight: null, distance: null, timing: null },
    ],
    scheduledFor: '2025-01-10', isRecurring: false, recurringPattern: null, isCompleted: false, completedAt: null, actualDuration: null,
    aiModel: 'claude-sonnet-4.5', aiPrompt: 'squats', aiTokensUsed: 1350, aiCost: 0.0135, createdAt: at(n, 5), updatedAt: at(n, 5), ...more,
});

const completion = (n, more = {}) => ({
    id: `completion-${n}`, userId: `user-${n}`, workoutId: `workout-${n}`, completedAt: at(n, 30), duration: 65, difficulty: 'moderate', notes: null,
    exercisesCompleted: [{ exerciseId: 'exercise-1', name: 'Back Squat', setsCompleted: 5, actualWeight: null, actualReps: [5, 5, 4], personalRecord: false }],
    energyLevel: 4, enjoyment: null, createdAt: at(n, 30), ...more,
});

export function documented(n) {
    const id = { id: `user-${n}` };
    return [
        put(USERS, user(n), { ConditionExpression: 'attribute_not_exists(id)' }),
        update(USERS, id, 'SET trainingProfile = :p, onboardingCompleted = :yes, onboardingCompletedAt = :now, updatedAt = :now', {
            p: {
                personalRecords: { 'Back Squat': { weight: 315, unit: 'lbs', date: '2024-12-15T00:00:00Z' } }, experience: 'intermediate',
                preferredSplit: null, trainingDays: 4, equipment: ['barbell'], goals: ['strength'], constraints: [{ type: 'injury', description: 'shoulder' }],
            },
            yes: true, now: at(n, 1),
        }),
        put(EVENTS, { eventId: `evt_${n}`, eventType: 'customer.subscription.updated', processedAt: at(n, 2), userId: null, data: { status: 'active', planId: null }, ttl: 4102444800 },
            { ConditionExpression: 'attribute_not_exists(eventId)' }),
        update(USERS, id, 'SET stripeCustomerId = :c, stripeSubscriptionId = :s, subscriptionTier = :t, subscriptionStatus = :a, subscriptionStartDate = :now, updatedAt = :now',
            { c: `cus_${n}`, s: `sub_${n}`, t: 'pro', a: 'active', now: at(n, 2) }),
        put(WORKOUTS, workout(n), { ConditionExpression: 'attribute_not_exists(id)' }),
        update(USERS, id, 'ADD aiRequestsUsed :one, currentMonthCost :cost, totalTokens :tokens', { one: 1, cost: 0.0135, tokens: 1350 }),
        update(USERS, id, 'SET scanQuotaUsed = scanQuotaUsed + :one, ocrQuotaUsed = ocrQuotaUsed + :one', { one: 1 }),
        update(WORKOUTS, { userId: `user-${n}`, id: `workout-${n}` }, 'SET isCompleted = :yes, completedAt = :now, actualDuration = :d, updatedAt = :now',
            { yes: true, now: at(n, 30), d: 65 }),
        put(DONE, completion(n)),
    ];
}

export function habits(n) {
    return [
        put(USERS, user(`h-${n}`, { subscriptionTier: 'enterprise', timezone: 'Europe/Berlin', devices: [{ os: 'ios' }] })),
        update(USERS, { id: `user-${n}` }, 'SET trainingProfile.experience = :e, lastSeenAt = :now', { e: 'elite', now: at(n, 41) }),
        // The document's own advice: denormalize.
        put(WORKOUTS, workout(`h-${n}`, { source: 'video', userSubscriptionTier: 'pro', exercises: [{ id: 'e', name: 'Row', sets: null, reps: null, rpe: 8 }] })),
        put(WORKOUTS, workout(`i-${n}`, { isCompleted: null, recurringPattern: { frequency: 'yearly', interval: 1, daysOfWeek: [7] } })),
        put(DONE, completion(`h-${n}`, { completedAt: at(n, 44), createdAt: null, difficulty: 'very hard', energyLevel: 0, heartRate: { max: 180 } })),
        put(EVENTS, { eventId: `evt_h_${n}`, eventType: null, processedAt: at(n, 45), livemode: false, ttl: 4102444800 }),
    ];
}
