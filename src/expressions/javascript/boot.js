// SPDX-License-Identifier: Apache-2.0
/*
 * What every script finds: the functions and types of the reference system, and nothing that could
 * tell two evaluations apart or let one reach another. Runs once in a new engine, before an image
 * of it is taken.
 *
 * Answers the functions that the host calls: `pack` turns a result into text, `wrap` turns a value
 * of the host into what scripts see of it, `describe` tells what was thrown, `seal` makes the realm
 * one that evaluations can share.
 *
 * `native` holds the host's own functions, by name.
 */
(function (native) {
    'use strict';

    const { parse, stringify } = JSON;
    const { isArray } = Array;
    const { create, defineProperty, freeze, getOwnPropertyDescriptor, getPrototypeOf, setPrototypeOf } = Object;
    const { apply, ownKeys } = Reflect;
    const isFinite = Number.isFinite;
    const plainProto = Object.prototype;
    const toIso = Date.prototype.toISOString;
    const timeOf = Date.prototype.getTime;

    // Dates name their zone, which is always the same.
    for (const name of ['toString', 'toTimeString']) {
        const old = Date.prototype[name];
        const { [name]: named } = {
            [name]() {
                const text = old.call(this);
                return text.endsWith('GMT+0000') ? text + ' (Coordinated Universal Time)' : text;
            },
        };
        defineProperty(Date.prototype, name, { value: named, writable: true, enumerable: false, configurable: true });
    }

    // Nothing to wait with, nothing that the collector makes visible, no second clock.
    for (const name of ['SharedArrayBuffer', 'Atomics', 'WeakRef', 'FinalizationRegistry', 'performance'])
        delete globalThis[name];
    // Their setters would change the engine itself.
    delete Error.stackTraceLimit;
    delete Error.prepareStackTrace;

    const hide = (target, name, value) =>
        defineProperty(target, name, { value, writable: true, enumerable: false, configurable: true });

    // ---- types of the host ---------------------------------------------------------------

    class Guid {
        #text;
        constructor(text) { this.#text = text; }
        toString() { return this.#text; }
        // Scripts see the properties of the host's object.
        toJSON() { return { Variant: parseInt(this.#text[19], 16), Version: parseInt(this.#text[14], 16) }; }
        static is(value) { return #text in value; }
        static Parse(text) { return new Guid(native.parseGuid(text)); }
        static NewGuid() { return new Guid(native.newGuid()); }
    }
    hide(Guid, 'Empty', new Guid('00000000-0000-0000-0000-000000000000'));

    class TimeSpan {
        #ms;
        constructor(ms) { this.#ms = ms; }
        static is(value) { return #ms in value; }
        static FromDays(n) { return new TimeSpan(n * 86400000); }
        static FromHours(n) { return new TimeSpan(n * 3600000); }
        static FromMinutes(n) { return new TimeSpan(n * 60000); }
        static FromSeconds(n) { return new TimeSpan(n * 1000); }
        static FromMilliseconds(n) { return new TimeSpan(n); }
        get TotalDays() { return this.#ms / 86400000; }
        get TotalHours() { return this.#ms / 3600000; }
        get TotalMinutes() { return this.#ms / 60000; }
        get TotalSeconds() { return this.#ms / 1000; }
        get TotalMilliseconds() { return this.#ms; }
        get Days() { return Math.trunc(this.#ms / 86400000); }
        get Hours() { return Math.trunc(this.#ms / 3600000) % 24; }
        get Minutes() { return Math.trunc(this.#ms / 60000) % 60; }
        get Seconds() { return Math.trunc(this.#ms / 1000) % 60; }
        get Milliseconds() { return this.#ms % 1000; }
        get Ticks() { return this.#ms * 10000; }
        get Microseconds() { return Math.trunc(this.#ms * 1000) % 1000; }
        get Nanoseconds() { return Math.trunc(this.#ms * 1000000) % 1000; }
        get TotalMicroseconds() { return this.#ms * 1000; }
        get TotalNanoseconds() { return this.#ms * 1000000; }
        toString() { return native.timeSpanText(this.#ms); }
        toJSON() {
            const { Ticks, Days, Hours, Milliseconds, Microseconds, Nanoseconds, Minutes, Seconds, TotalDays, TotalHours,
                TotalMilliseconds, TotalMicroseconds, TotalNanoseconds, TotalMinutes, TotalSeconds } = this;
            return { Ticks, Days, Hours, Milliseconds, Microseconds, Nanoseconds, Minutes, Seconds, TotalDays, TotalHours,
                TotalMilliseconds, TotalMicroseconds, TotalNanoseconds, TotalMinutes, TotalSeconds };
        }
    }

    class DateTime {
        static get Now() { return new Date(); }
        static get UtcNow() { return new Date(); }
        static get Today() { const d = new Date(); d.setUTCHours(0, 0, 0, 0); return d; }
        static Parse(text) { return new Date(text); }
    }
    class DateTimeOffset extends DateTime {}

    class Random {
        Next(low, high) {
            if (high === undefined) { high = low ?? 2147483647; low = 0; }
            return low + Math.floor(Math.random() * (high - low));
        }
        NextDouble() { return Math.random(); }
    }

    const LogPersistenceMode = freeze({ Inherit: 'Inherit', Include: 'Include', Exclude: 'Exclude', Configuration: 'Configuration' });

    // ---- results -------------------------------------------------------------------------

    // Arrays of bytes are bytes to the host, other typed arrays are arrays of numbers.
    const { isView } = ArrayBuffer;
    const getter = (proto, key) => {
        const { get } = getOwnPropertyDescriptor(proto, key);
        return value => apply(get, value, []);
    };
    const typedProto = getPrototypeOf(Uint8Array.prototype);
    const typedTag = getter(typedProto, Symbol.toStringTag);
    const typedLength = getter(typedProto, 'length');
    const viewBuffer = getter(DataView.prototype, 'buffer');
    const viewOffset = getter(DataView.prototype, 'byteOffset');
    const viewLength = getter(DataView.prototype, 'byteLength');
    const Bytes = Uint8Array;
    // A DataView shows bytes too.
    const asBytes = value =>
        isView(value) && typedTag(value) === undefined
            ? new Bytes(viewBuffer(value), viewOffset(value), viewLength(value)) : value;
    const numbers = value => {
        const list = [];
        for (let i = 0, n = typedLength(value); i < n; i++)
            defineProperty(list, i, { value: value[i], writable: true, enumerable: true, configurable: true });
        return list;
    };

    const isDate = value => value instanceof Date;
    // The first and the last date of the host, which go back as they came as long as nobody sets them.
    const limits = new WeakMap();
    const limitOf = apply.bind(null, WeakMap.prototype.get, limits);
    const limitDate = (ms, text) => {
        const date = new Date(ms);
        limits.set(date, { ms, text });
        return date;
    };
    // As the host writes a date: no fraction when there is none, no trailing zeros in it.
    const dateText = value => {
        const ms = timeOf.call(value);
        if (!isFinite(ms))
            throw new RangeError('An invalid date has no value outside of the script.');
        const limit = limitOf([value]);
        if (limit !== undefined && limit.ms === ms) return limit.text;
        return toIso.call(value).replace(/\.?0*Z$/, 'Z');
    };
    const refuse = value => {
        throw new RangeError(`The script's result contains ${value}, which is no value outside of it.`);
    };
    function plain(key, value) {
        switch (typeof value) {
        case 'number':
            return isFinite(value) ? value : refuse(value);
        case 'object': {
            if (value === null || isArray(value)) return value;
            const proto = getPrototypeOf(value);
            if (proto === plainProto || proto === expandoProto) {
                const own = this[key];
                return own !== value && own !== null && typeof own === 'object' && (Guid.is(own) || TimeSpan.is(own)) ? String(own) : value;
            }
            if (isView(value) || native.isBytes(value)) {
                const bytes = asBytes(value);
                return native.isBytes(bytes) ? native.bytesToBase64(bytes) : numbers(value);
            }
            if (value instanceof Map || value instanceof Set) return [...value];
            return value;
        }
        case 'string': {
            const own = this[key];
            return typeof own === 'object' && own !== null && isDate(own) ? dateText(own) : value;
        }
        case 'boolean':
            return value;
        case 'bigint':
            return Number(value);
        case 'symbol':
            return String(value);
        default:
            return null;
        }
    }
    // The first character says what the rest is.
    function pack(value) {
        switch (typeof value) {
        case 'object':
            if (value !== null && isJsonNode(value)) return 'j' + stringify(value, plain);
            if (isArray(value)) return 'a' + stringify(value, plain);
            if (getPrototypeOf(value) === plainProto) return 'o' + (stringify(value, plain) ?? 'null');
            if (isDate(value)) return 'd' + dateText(value);
            if (isView(value) || native.isBytes(value)) {
                const bytes = asBytes(value);
                return native.isBytes(bytes) ? 'b' + native.bytesToBase64(bytes) : 'a' + stringify(numbers(value), plain);
            }
            if (Guid.is(value)) return 'g' + value;
            if (TimeSpan.is(value)) return 't' + value;
            if (value instanceof Map || value instanceof Set) return 'a' + stringify([...value], plain);
            if (value instanceof Error) return 's' + value;
            if (value instanceof RegExp) return 's' + value;
            return 'o' + (stringify(value, plain) ?? 'null');
        case 'bigint':
            return 'n' + value;
        case 'symbol':
            return 's' + String(value);
        default:
            return 'z';
        }
    }

    // Something in a result that the host does not read itself, as it is in there.
    const nested = value => stringify({ value }, plain);

    // ---- values of the host --------------------------------------------------------------

    // Objects of the host print their type; arrays do not. The host makes them with these prototypes.
    const labelled = label => {
        const proto = create(Object.prototype);
        hide(proto, 'toString', () => label);
        return freeze(proto);
    };
    const expandoProto = labelled('System.Dynamic.ExpandoObject');
    const dictionaryProto = labelled('System.Collections.Generic.Dictionary`2[System.String,System.Object]');
    const stringDictionaryProto = labelled('System.Collections.Generic.Dictionary`2[System.String,System.String]');
    const jsonProto = create(Object.prototype);
    hide(jsonProto, 'toString', function () { return stringify(this, null, 2); });
    freeze(jsonProto);
    const jsonArrayProto = create(Array.prototype);
    hide(jsonArrayProto, 'toString', function () { return stringify(this, null, 2); });
    freeze(jsonArrayProto);
    const isJsonNode = value => {
        const proto = getPrototypeOf(value);
        return proto === jsonProto || proto === jsonArrayProto;
    };

    function wrap(kind, value) {
        switch (kind) {
        case 'd': return new Date(value);
        case 'first': return limitDate(value, '0001-01-01T00:00:00');
        case 'last': return limitDate(value, '9999-12-31T23:59:59.9999999');
        case 'g': return new Guid(value);
        case 't': return new TimeSpan(value);
        default: return value;
        }
    }

    // An array of the host is a new copy each time it is read; what is assigned stays.
    function copied(target, name, text) {
        defineProperty(target, name, {
            get: () => parse(text),
            set(value) {
                defineProperty(target, name, { value, writable: true, enumerable: true, configurable: true });
            },
            enumerable: true,
            configurable: true,
        });
    }
    // What is in `variables` now, but for the arrays that the script has not replaced.
    const names = target => stringify(ownKeys(target).filter(
        key => typeof key === 'string' && 'value' in getOwnPropertyDescriptor(target, key)));

    // ---- what was thrown -----------------------------------------------------------------

    function describe(error) {
        let name = '', message = '', stack = '';
        try {
            if (typeof error === 'object' && error !== null) {
                const text = error.message;
                name = error instanceof Error ? String(error.name) : '';
                message = text === undefined ? String(error) : String(text);
                stack = error instanceof Error ? String(error.stack) : '';
            } else {
                message = String(error);
            }
        } catch { message = message || 'The script threw something that has no text.'; }
        const place = /^[^\n]*\(native\)/.test(stack) ? 'native' : stack.match(/:(\d+:\d+)\)?\s*$/m)?.[1] ?? '';
        return `${name}\n${place}\n${message}`;
    }

    // ---- functions -----------------------------------------------------------------------

    const text = value => value === null || value === undefined ? '' : String(value);
    const functions = {
        createEventTriggerUrl: (name, lifetime) => native.eventUrl(String(name),
            lifetime === undefined || lifetime === null ? '' : String(lifetime)),
        isNullOrEmpty: value => value === null || value === undefined || String(value) === '',
        isNullOrWhiteSpace: value => value === null || value === undefined || String(value).trim() === '',
        toJson: value => {
            if (value === undefined || value === null) return 'null';
            return native.toJson(typeof value === 'object' ? stringify({ v: value }, plain) : stringify({ v: value }));
        },
        parseGuid: value => Guid.Parse(text(value)),
        newGuid: () => Guid.NewGuid(),
        newGuidString: () => native.newGuid(),
        getGuidString: () => native.newGuid(),
        newShortGuid: () => native.newShortGuid(),
        getShortGuid: () => native.newShortGuid(),
        bytesToString: value => native.bytesToString(asBytes(value)),
        bytesFromString: value => native.bytesFromString(text(value)),
        bytesToBase64: value => native.bytesToBase64(asBytes(value)),
        bytesFromBase64: value => native.bytesFromBase64(text(value)),
        stringToBase64: value => native.bytesToBase64(native.bytesFromString(text(value))),
        stringFromBase64: value => native.bytesToString(native.bytesFromBase64(text(value))),
        streamToBytes: value => value,
        streamToBase64: value => native.bytesToBase64(asBytes(value)),
        setOutcomes: value => { for (const name of isArray(value) ? value : [value]) native.addOutcome(String(name)); },
        setOutcome: value => native.addOutcome(String(value)),
    };
    for (const name of ownKeys(functions)) hide(globalThis, name, functions[name]);
    for (const name of ['getWorkflowDefinitionId', 'getWorkflowDefinitionVersionId', 'getWorkflowDefinitionVersion',
        'getWorkflowInstanceId', 'getCorrelationId', 'setCorrelationId', 'getWorkflowInstanceName',
        'setWorkflowInstanceName', 'getVariable', 'setVariable', 'getInput', 'getOutputFrom', 'getLastResult',
        'getConfig', 'getSecret'])
        hide(globalThis, name, native[name]);
    const types = { Guid, TimeSpan, DateTime, DateTimeOffset, Random, LogPersistenceMode };
    for (const name of ownKeys(types)) hide(globalThis, name, types[name]);
    hide(Math, 'random', native.random);

    // ---- a realm to share ----------------------------------------------------------------

    // What getters return, which no property shows.
    const yielded = [];
    // Assigning to a property that a frozen object would hand down must make an own one.
    function yieldToOwn(proto, key) {
        const old = getOwnPropertyDescriptor(proto, key);
        if (!old || !('value' in old) || !old.configurable) return;
        const { value } = old;
        yielded.push(value);
        defineProperty(proto, key, {
            get: () => value,
            set(next) {
                if (this === proto || this === null || typeof this !== 'object' && typeof this !== 'function')
                    throw new TypeError(`Cannot assign to '${String(key)}' of a built-in object.`);
                defineProperty(this, key, { value: next, writable: true, enumerable: true, configurable: true });
            },
            enumerable: old.enumerable,
            configurable: false,
        });
    }

    // Everything a script can get at without making it.
    function reachable() {
        const found = new Set();
        const queue = [];
        const add = value => {
            if ((typeof value === 'object' || typeof value === 'function') && value !== null && !found.has(value)) {
                found.add(value);
                queue.push(value);
            }
        };
        const generator = function* () {}, asyncGenerator = async function* () {}, asyncFunction = async () => {};
        for (const root of [generator, asyncGenerator, asyncFunction, generator(), asyncGenerator(), [][Symbol.iterator](),
            ''[Symbol.iterator](), new Map()[Symbol.iterator](), new Set()[Symbol.iterator](), 'a'.matchAll(/a/g),
            Iterator.from({ next() {} }), [].values().map(x => x), Iterator.prototype, new Error().stack, jsonProto, jsonArrayProto,
            (function () { return arguments; })(), class {}, new Proxy({}, {}), /a/, new Date(0), Promise.resolve(),
            expandoProto, dictionaryProto, stringDictionaryProto])
            add(getPrototypeOf(Object(root))), add(Object(root));
        add(globalThis);
        yielded.forEach(add);
        for (let next = queue.pop(); next !== undefined; next = queue.pop()) {
            add(getPrototypeOf(next));
            for (const key of ownKeys(next)) {
                const property = getOwnPropertyDescriptor(next, key);
                add(property.value); add(property.get); add(property.set);
            }
        }
        return found;
    }

    function seal() {
        const realm = globalThis;
        for (const key of ownKeys(Object.prototype)) yieldToOwn(Object.prototype, key);
        for (const key of ['toString', 'name', 'message', 'constructor', 'cause'])
            for (const type of [Error, EvalError, RangeError, ReferenceError, SyntaxError, TypeError, URIError, AggregateError])
                yieldToOwn(type.prototype, key);
        for (const type of [Function, Array, Date, RegExp, Map, Set, Guid, TimeSpan])
            for (const key of ['toString', 'toJSON', 'valueOf', 'toLocaleString']) yieldToOwn(type.prototype, key);
        const shared = create(Object.prototype);
        const all = reachable();
        for (const key of ownKeys(realm)) {
            const property = getOwnPropertyDescriptor(realm, key);
            if (!property.configurable) continue;
            defineProperty(shared, key, property);
            delete realm[key];
        }
        for (const object of all)
            if (object !== realm) freeze(object);
        setPrototypeOf(realm, freeze(shared));
        return shared;
    }

    return { pack, nested, plainProto, wrap, copied, names, describe, seal,
        expandoProto, dictionaryProto, stringDictionaryProto, jsonProto, jsonArrayProto };
})
