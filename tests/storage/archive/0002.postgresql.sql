SET statement_timeout = 0;
SET lock_timeout = 0;
SET idle_in_transaction_session_timeout = 0;
SET transaction_timeout = 0;
SET client_encoding = 'UTF8';
SET standard_conforming_strings = on;
SELECT pg_catalog.set_config('search_path', '', false);
SET check_function_bodies = false;
SET xmloption = content;
SET client_min_messages = warning;
SET row_security = off;
SET default_tablespace = '';
SET default_table_access_method = heap;
CREATE TABLE public.alembic_version (
    version_num character varying(32) NOT NULL
);
CREATE TABLE public.attempts (
    trial_id bigint NOT NULL,
    number integer NOT NULL,
    lease_id character varying(64) NOT NULL,
    request_id character varying(100) NOT NULL,
    worker character varying(100) NOT NULL,
    incarnation character varying(100) NOT NULL,
    device character varying(100) NOT NULL,
    environment json NOT NULL,
    last_step bigint NOT NULL,
    started_at bigint NOT NULL,
    ended_at bigint,
    outcome character varying(20),
    loss double precision,
    message text,
    traceback text
);
CREATE TABLE public.clock (
    id integer NOT NULL,
    offset_milliseconds bigint NOT NULL,
    CONSTRAINT clock_single_row_check CHECK ((id = 1))
);
CREATE SEQUENCE public.clock_id_seq
    AS integer
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;
ALTER SEQUENCE public.clock_id_seq OWNED BY public.clock.id;
CREATE TABLE public.observations (
    study_id bigint NOT NULL,
    seq integer NOT NULL,
    trial integer NOT NULL,
    attempt integer NOT NULL,
    outcome character varying(20) NOT NULL,
    loss double precision,
    cause character varying(30)
);
CREATE TABLE public.reports (
    trial_id bigint NOT NULL,
    attempt integer NOT NULL,
    first_step bigint NOT NULL,
    points json NOT NULL
);
CREATE TABLE public.studies (
    id bigint NOT NULL,
    name character varying(100) NOT NULL,
    task character varying(100) NOT NULL,
    space json NOT NULL,
    strategy character varying(100) NOT NULL,
    seed bigint NOT NULL,
    max_trials integer NOT NULL,
    max_attempts integer NOT NULL,
    state character varying(20) NOT NULL,
    reason character varying(30),
    trials integer NOT NULL,
    observations integer NOT NULL,
    created_at bigint NOT NULL,
    strategy_settings json DEFAULT '{}'::json NOT NULL
);
CREATE SEQUENCE public.studies_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;
ALTER SEQUENCE public.studies_id_seq OWNED BY public.studies.id;
CREATE TABLE public.trials (
    id bigint NOT NULL,
    study_id bigint NOT NULL,
    number integer NOT NULL,
    config json NOT NULL,
    config_key character varying(64) NOT NULL,
    seed bigint NOT NULL,
    reasons json NOT NULL,
    state character varying(20) NOT NULL,
    cause character varying(30),
    loss double precision,
    attempts integer NOT NULL,
    max_attempts integer NOT NULL,
    lease_id character varying(64),
    free_at bigint NOT NULL,
    created_at bigint NOT NULL,
    finished_at bigint
);
CREATE SEQUENCE public.trials_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;
ALTER SEQUENCE public.trials_id_seq OWNED BY public.trials.id;
ALTER TABLE ONLY public.clock ALTER COLUMN id SET DEFAULT nextval('public.clock_id_seq'::regclass);
ALTER TABLE ONLY public.studies ALTER COLUMN id SET DEFAULT nextval('public.studies_id_seq'::regclass);
ALTER TABLE ONLY public.trials ALTER COLUMN id SET DEFAULT nextval('public.trials_id_seq'::regclass);
INSERT INTO public.alembic_version VALUES ('0002');
INSERT INTO public.attempts VALUES (15, 1, 'e5348452468f558a8096f029e59bee22', 'wish-18', 'node-1', 'monday', 'cuda:0', '{"torch": "2.13"}', -1, 1795051482356, 1795051482362, 'succeeded', 0.3, NULL, NULL);
INSERT INTO public.attempts VALUES (1, 1, '075122b44beb5c6ecc5027d391746d0c', 'wish-1', 'node-1', 'monday', 'cuda:0', '{"torch": "2.13"}', 2, 1795051479430, 1795051479455, 'succeeded', 0.5, NULL, NULL);
INSERT INTO public.attempts VALUES (16, 1, '2ff06745571a81778f4dd5ef88803b23', 'wish-19', 'node-1', 'monday', 'cuda:0', '{"torch": "2.13"}', -1, 1795051482372, 1795051482377, 'succeeded', 0.4, NULL, NULL);
INSERT INTO public.attempts VALUES (2, 1, 'f844b91c84dee8cb1b290ac7c5e845bb', 'wish-2', 'node-1', 'monday', 'cuda:0', '{"torch": "2.13"}', 2, 1795051479467, 1795051479490, 'succeeded', 0.6, NULL, NULL);
INSERT INTO public.attempts VALUES (17, 1, 'a96619596b1b52aad6afb71b231ca9fe', 'wish-20', 'node-1', 'monday', 'cuda:0', '{"torch": "2.13"}', -1, 1795051483008, 1795051483031, 'succeeded', 0.5, NULL, NULL);
INSERT INTO public.attempts VALUES (3, 1, 'e1d32bfe324a72df91f79d951d6e42a9', 'wish-3', 'node-1', 'monday', 'cuda:0', '{"torch": "2.13"}', 2, 1795051479515, 1795051479535, 'succeeded', 0.7, NULL, NULL);
INSERT INTO public.attempts VALUES (18, 1, 'ed41f0863990ab8dc8d7da0e0b091908', 'wish-21', 'node-1', 'monday', 'cuda:0', '{"torch": "2.13"}', -1, 1795051483053, 1795051483059, 'succeeded', 0.5, NULL, NULL);
INSERT INTO public.attempts VALUES (4, 1, '3a34fd4e32041f81b2c3a5d7cb5d3edf', 'wish-4', 'node-1', 'monday', 'cuda:0', '{"torch": "2.13"}', 2, 1795051479546, 1795051479560, 'succeeded', 0.8, NULL, NULL);
INSERT INTO public.attempts VALUES (19, 1, 'ef1da5013cff6582099ae012f2e4edd1', 'wish-22', 'node-1', 'monday', 'cuda:0', '{"torch": "2.13"}', -1, 1795051483091, 1795051483104, 'succeeded', 0.4, NULL, NULL);
INSERT INTO public.attempts VALUES (5, 1, 'c83dc38fa9de210d47874367a77bcfe2', 'wish-5', 'node-1', 'monday', 'cuda:0', '{"torch": "2.13"}', 2, 1795051479571, 1795051479584, 'succeeded', 0.9, NULL, NULL);
INSERT INTO public.attempts VALUES (20, 1, '5fcd6bff6322e1caaf37d7199e29f239', 'wish-23', 'node-1', 'monday', 'cuda:0', '{"torch": "2.13"}', -1, 1795051483124, 1795051483138, 'succeeded', 0.3, NULL, NULL);
INSERT INTO public.attempts VALUES (6, 1, '9f7e8b0fd0b46edd393f74c7ff143fb0', 'wish-6', 'node-1', 'monday', 'cuda:0', '{"torch": "2.13"}', 2, 1795051479594, 1795051479616, 'succeeded', 1, NULL, NULL);
INSERT INTO public.attempts VALUES (7, 1, '463713cd331ba125823aa5ea16907efb', 'wish-7', 'node-1', 'monday', 'cuda:0', '{"torch": "2.13"}', -1, 1795051479625, 1795051479631, 'diverged', NULL, 'nan', NULL);
INSERT INTO public.attempts VALUES (8, 1, '4d86de57e3474804fbb46cdc3c98834e', 'wish-8', 'node-1', 'monday', 'cuda:0', '{"torch": "2.13"}', -1, 1795051479640, 1795051479645, 'error', NULL, 'boom', 'Traceback: boom');
INSERT INTO public.attempts VALUES (8, 2, '99912dde2cedc2db881c0946c05d284a', 'wish-9', 'node-1', 'monday', 'cuda:0', '{"torch": "2.13"}', -1, 1795051479652, 1795051479663, 'out_of_memory', NULL, 'boom', 'Traceback: boom');
INSERT INTO public.attempts VALUES (9, 1, '16231d46c7c6649e8bde8d17e23843b3', 'wish-10', 'node-1', 'monday', 'cuda:0', '{"torch": "2.13"}', -1, 1795051479674, 1795051479681, 'succeeded', 0.9, NULL, NULL);
INSERT INTO public.attempts VALUES (10, 1, '4267fe9b4687238b929dc3ace5b965cc', 'wish-11', 'node-1', 'monday', 'cuda:0', '{"torch": "2.13"}', -1, 1795051479694, 1795051479701, 'released', NULL, NULL, NULL);
INSERT INTO public.attempts VALUES (10, 2, '281d03886d4dae8a2dc7ebfea2e63b5d', 'wish-12', 'node-1', 'monday', 'cuda:0', '{"torch": "2.13"}', -1, 1795051479708, 1795051482226, 'lost', NULL, NULL, NULL);
INSERT INTO public.attempts VALUES (10, 3, '8c23cdb739143dcc1983c518401fe72f', 'wish-13', 'node-2', 'monday', 'cuda:0', '{"torch": "2.13"}', -1, 1795051482228, 1795051482249, 'succeeded', 0.7, NULL, NULL);
INSERT INTO public.attempts VALUES (11, 1, '56693fc73644f33ed3b15d301e0c0fea', 'wish-14', 'node-1', 'monday', 'cuda:0', '{"torch": "2.13"}', -1, 1795051482278, 1795051482290, 'succeeded', 0.5, NULL, NULL);
INSERT INTO public.attempts VALUES (12, 1, '3f8890677bf3c685d276a3b6ff5f1211', 'wish-15', 'node-1', 'monday', 'cuda:0', '{"torch": "2.13"}', -1, 1795051482302, 1795051482308, 'succeeded', 0.4, NULL, NULL);
INSERT INTO public.attempts VALUES (13, 1, '4efaae9cf88f4233d090e3966030377e', 'wish-16', 'node-1', 'monday', 'cuda:0', '{"torch": "2.13"}', -1, 1795051482323, 1795051482329, 'succeeded', 0.1, NULL, NULL);
INSERT INTO public.attempts VALUES (14, 1, '55b640f25ef9ac163144547f794b13cb', 'wish-17', 'node-1', 'monday', 'cuda:0', '{"torch": "2.13"}', -1, 1795051482340, 1795051482346, 'succeeded', 0.2, NULL, NULL);
INSERT INTO public.attempts VALUES (21, 1, '7b11d94fc2c9e7ff049441f49036ffe2', 'wish-24', 'node-1', 'monday', 'cuda:0', '{"torch": "2.13"}', -1, 1795051483153, 1795051483165, 'succeeded', 0.5, NULL, NULL);
INSERT INTO public.attempts VALUES (22, 1, '66dbb995b87d1ab3291e072bdff2accc', 'wish-25', 'node-1', 'monday', 'cuda:0', '{"torch": "2.13"}', -1, 1795051483176, 1795051483186, 'succeeded', 0.4, NULL, NULL);
INSERT INTO public.attempts VALUES (23, 1, '5bb7ea63186be8c82a6dce1bbd9114f9', 'wish-26', 'node-1', 'monday', 'cuda:0', '{"torch": "2.13"}', -1, 1795051483196, 1795051483203, 'succeeded', 0.3, NULL, NULL);
INSERT INTO public.attempts VALUES (24, 1, '26b23cedfa2541084ae1c75eaad75da8', 'wish-27', 'node-1', 'monday', 'cuda:0', '{"torch": "2.13"}', -1, 1795051483226, 1795051485734, 'lost', NULL, NULL, NULL);
INSERT INTO public.attempts VALUES (25, 1, 'b9030e73bbd914c22912450f759bb11c', 'wish-28', 'node-1', 'monday', 'cuda:0', '{"torch": "2.13"}', 0, 1795051485757, NULL, NULL, NULL, NULL, NULL);
INSERT INTO public.clock VALUES (1, 0);
INSERT INTO public.observations VALUES (1, 1, 0, 1, 'succeeded', 0.5, NULL);
INSERT INTO public.observations VALUES (1, 2, 1, 1, 'succeeded', 0.6, NULL);
INSERT INTO public.observations VALUES (1, 3, 2, 1, 'succeeded', 0.7, NULL);
INSERT INTO public.observations VALUES (1, 4, 3, 1, 'succeeded', 0.8, NULL);
INSERT INTO public.observations VALUES (1, 5, 4, 1, 'succeeded', 0.9, NULL);
INSERT INTO public.observations VALUES (1, 6, 5, 1, 'succeeded', 1, NULL);
INSERT INTO public.observations VALUES (1, 7, 6, 1, 'diverged', NULL, NULL);
INSERT INTO public.observations VALUES (1, 8, 7, 2, 'failed', NULL, 'out_of_memory');
INSERT INTO public.observations VALUES (1, 9, 8, 1, 'succeeded', 0.9, NULL);
INSERT INTO public.observations VALUES (1, 10, 9, 3, 'succeeded', 0.7, NULL);
INSERT INTO public.observations VALUES (2, 1, 0, 1, 'succeeded', 0.5, NULL);
INSERT INTO public.observations VALUES (2, 2, 1, 1, 'succeeded', 0.4, NULL);
INSERT INTO public.observations VALUES (3, 1, 0, 1, 'succeeded', 0.1, NULL);
INSERT INTO public.observations VALUES (3, 2, 1, 1, 'succeeded', 0.2, NULL);
INSERT INTO public.observations VALUES (3, 3, 2, 1, 'succeeded', 0.3, NULL);
INSERT INTO public.observations VALUES (3, 4, 3, 1, 'succeeded', 0.4, NULL);
INSERT INTO public.observations VALUES (4, 1, 0, 1, 'succeeded', 0.5, NULL);
INSERT INTO public.observations VALUES (5, 1, 0, 1, 'succeeded', 0.5, NULL);
INSERT INTO public.observations VALUES (5, 2, 1, 1, 'succeeded', 0.4, NULL);
INSERT INTO public.observations VALUES (5, 3, 2, 1, 'succeeded', 0.3, NULL);
INSERT INTO public.observations VALUES (6, 1, 0, 1, 'succeeded', 0.5, NULL);
INSERT INTO public.observations VALUES (6, 2, 1, 1, 'succeeded', 0.4, NULL);
INSERT INTO public.observations VALUES (6, 3, 2, 1, 'succeeded', 0.3, NULL);
INSERT INTO public.observations VALUES (7, 1, 0, 1, 'failed', NULL, 'attempts_used_up');
INSERT INTO public.reports VALUES (1, 1, 0, '[{"step": 0, "metrics": {"loss": 1.0}}, {"step": 1, "metrics": {"loss": 0.8}}]');
INSERT INTO public.reports VALUES (1, 1, 2, '[{"step": 2, "metrics": {"loss": 0.5}}]');
INSERT INTO public.reports VALUES (2, 1, 0, '[{"step": 0, "metrics": {"loss": 1.0}}, {"step": 1, "metrics": {"loss": 0.9}}]');
INSERT INTO public.reports VALUES (2, 1, 2, '[{"step": 2, "metrics": {"loss": 0.6}}]');
INSERT INTO public.reports VALUES (3, 1, 0, '[{"step": 0, "metrics": {"loss": 1.0}}, {"step": 1, "metrics": {"loss": 1.0}}]');
INSERT INTO public.reports VALUES (3, 1, 2, '[{"step": 2, "metrics": {"loss": 0.7}}]');
INSERT INTO public.reports VALUES (4, 1, 0, '[{"step": 0, "metrics": {"loss": 1.0}}, {"step": 1, "metrics": {"loss": 1.1}}]');
INSERT INTO public.reports VALUES (4, 1, 2, '[{"step": 2, "metrics": {"loss": 0.8}}]');
INSERT INTO public.reports VALUES (5, 1, 0, '[{"step": 0, "metrics": {"loss": 1.0}}, {"step": 1, "metrics": {"loss": 1.2000000000000002}}]');
INSERT INTO public.reports VALUES (5, 1, 2, '[{"step": 2, "metrics": {"loss": 0.9}}]');
INSERT INTO public.reports VALUES (6, 1, 0, '[{"step": 0, "metrics": {"loss": 1.0}}, {"step": 1, "metrics": {"loss": 1.3}}]');
INSERT INTO public.reports VALUES (6, 1, 2, '[{"step": 2, "metrics": {"loss": 1.0}}]');
INSERT INTO public.reports VALUES (25, 1, 0, '[{"step": 0, "metrics": {"loss": 0.9}}]');
INSERT INTO public.studies VALUES (7, 'hopeless', 'train', '{"x": {"type": "float", "low": 0.0, "high": 1.0}}', 'biased_random', 1, 20, 1, 'active', NULL, 1, 1, 1795051483208, '{"version": 1, "acceptance": {"name": "sharpening_rank", "trials": 10.0}, "neighbours": 1, "initial": 8, "explore": 0.02, "local": 0.8, "pending": "ignore"}');
INSERT INTO public.studies VALUES (1, 'search', 'train', '{"lr": {"type": "float", "low": 0.0001, "high": 1.0, "log": true}, "width": {"type": "int", "low": 8, "high": 64, "step": 8}, "rule": {"type": "categorical", "choices": ["sgd", "kfac"]}, "size": {"type": "ordinal", "choices": ["narrow", "middle", "wide"]}, "nesterov": {"type": "boolean", "when": {"rule": ["sgd"]}}}', 'biased_random', 1, 60, 2, 'active', NULL, 11, 10, 1795051479402, '{"version": 1, "acceptance": {"name": "sharpening_rank", "trials": 10.0}, "neighbours": 1, "initial": 8, "explore": 0.02, "local": 0.8, "pending": "ignore"}');
INSERT INTO public.studies VALUES (3, 'exhausted', 'train', '{"a": {"type": "boolean"}, "b": {"type": "boolean"}}', 'grid', 1, 20, 3, 'active', NULL, 4, 4, 1795051482312, '{"version": 1, "levels": 20, "order": "row_major"}');
INSERT INTO public.studies VALUES (4, 'sobol', 'train', '{"x": {"type": "float", "low": 0.0, "high": 1.0}}', 'quasi_random', 1, 20, 3, 'active', NULL, 1, 1, 1795051482380, '{"version": 1}');
INSERT INTO public.studies VALUES (2, 'finished', 'train', '{"x": {"type": "float", "low": 0.0, "high": 1.0}}', 'random', 1, 2, 3, 'completed', 'max_trials', 2, 2, 1795051482253, '{"version": 1}');
INSERT INTO public.studies VALUES (5, 'thesis', 'train', '{"x": {"type": "float", "low": 0.0, "high": 1.0}}', 'biased_random', 1, 20, 3, 'active', NULL, 3, 3, 1795051483037, '{"version": 1, "acceptance": {"name": "linear"}, "neighbours": 1, "initial": 1, "explore": 0.0, "local": 0.0, "pending": "ignore"}');
INSERT INTO public.studies VALUES (6, 'shuffled', 'train', '{"x": {"type": "float", "low": 0.0, "high": 1.0}}', 'grid', 1, 20, 3, 'active', NULL, 3, 3, 1795051483042, '{"version": 1, "levels": {"x": 4}, "order": "shuffled"}');
INSERT INTO public.trials VALUES (1, 1, 0, '{"lr": 0.17923228597, "width": 56, "rule": "kfac", "size": "middle"}', 'c1b283ab67820b5f031fd6f5550bb3e1206b318b3176d00e1d25e1852377a23f', 5854950545185455, '{"strategy": "biased_random", "watermark": 0, "draw": "initial", "refused": 0, "last_refused": [], "forced": false, "nearest_trial": null, "nearest_is_pending": false, "distance": null, "estimate": null, "neighbourhood": 1, "acceptance": 1.0, "parent": null, "expected_share": null}', 'succeeded', NULL, 0.5, 1, 2, '075122b44beb5c6ecc5027d391746d0c', 1795051480444, 1795051479426, 1795051479453);
INSERT INTO public.trials VALUES (2, 1, 1, '{"lr": 0.000199804195986, "width": 64, "rule": "kfac", "size": "wide"}', '6008cd6f3a445e7f5004f1c3f2d9ddf22ae81aed4ed5d3ad0c3da8fb6704c2b8', 7554410117382319, '{"strategy": "biased_random", "watermark": 1, "draw": "initial", "refused": 0, "last_refused": [], "forced": false, "nearest_trial": null, "nearest_is_pending": false, "distance": null, "estimate": null, "neighbourhood": 1, "acceptance": 1.0, "parent": null, "expected_share": null}', 'succeeded', NULL, 0.6, 1, 2, 'f844b91c84dee8cb1b290ac7c5e845bb', 1795051480478, 1795051479464, 1795051479489);
INSERT INTO public.trials VALUES (3, 1, 2, '{"lr": 0.015514661951, "width": 56, "rule": "sgd", "size": "wide", "nesterov": true}', '30b9e8e40ebf03907735220ed9c3df929163ec0fa9c7d9e0fc2ff9cb988d3eb3', 3632089929981814, '{"strategy": "biased_random", "watermark": 2, "draw": "initial", "refused": 0, "last_refused": [], "forced": false, "nearest_trial": null, "nearest_is_pending": false, "distance": null, "estimate": null, "neighbourhood": 1, "acceptance": 1.0, "parent": null, "expected_share": null}', 'succeeded', NULL, 0.7, 1, 2, 'e1d32bfe324a72df91f79d951d6e42a9', 1795051480528, 1795051479511, 1795051479534);
INSERT INTO public.trials VALUES (4, 1, 3, '{"lr": 0.0912820515555, "width": 56, "rule": "kfac", "size": "narrow"}', '8fa547930f0bc018d37a0ca33334177d20d5409e3fff101402eefbaaed33412e', 4712910346481374, '{"strategy": "biased_random", "watermark": 3, "draw": "initial", "refused": 0, "last_refused": [], "forced": false, "nearest_trial": null, "nearest_is_pending": false, "distance": null, "estimate": null, "neighbourhood": 1, "acceptance": 1.0, "parent": null, "expected_share": null}', 'succeeded', NULL, 0.8, 1, 2, '3a34fd4e32041f81b2c3a5d7cb5d3edf', 1795051480553, 1795051479543, 1795051479559);
INSERT INTO public.trials VALUES (5, 1, 4, '{"lr": 0.63789561431, "width": 32, "rule": "sgd", "size": "wide", "nesterov": true}', 'efd682e0df03c489f5dfffddc3f2044ca5c3fed6a997d60fd78d53f43c9e84b0', 2574326112439867, '{"strategy": "biased_random", "watermark": 4, "draw": "initial", "refused": 0, "last_refused": [], "forced": false, "nearest_trial": null, "nearest_is_pending": false, "distance": null, "estimate": null, "neighbourhood": 1, "acceptance": 1.0, "parent": null, "expected_share": null}', 'succeeded', NULL, 0.9, 1, 2, 'c83dc38fa9de210d47874367a77bcfe2', 1795051480578, 1795051479568, 1795051479583);
INSERT INTO public.trials VALUES (6, 1, 5, '{"lr": 0.0742578024471, "width": 32, "rule": "kfac", "size": "wide"}', '10a6fcf285aa80e4646a66a7b1b20d1c83c3262f844912de9c989a8e04b98438', 3603335978758971, '{"strategy": "biased_random", "watermark": 5, "draw": "initial", "refused": 0, "last_refused": [], "forced": false, "nearest_trial": null, "nearest_is_pending": false, "distance": null, "estimate": null, "neighbourhood": 1, "acceptance": 1.0, "parent": null, "expected_share": null}', 'succeeded', NULL, 1, 1, 2, '9f7e8b0fd0b46edd393f74c7ff143fb0', 1795051480608, 1795051479592, 1795051479615);
INSERT INTO public.trials VALUES (7, 1, 6, '{"lr": 0.00844920240805, "width": 8, "rule": "kfac", "size": "narrow"}', 'b94ad881ce948c4871e36a4b34b4d1867844186eddbe33a3b2299e941f3c4f47', 3454990870116558, '{"strategy": "biased_random", "watermark": 6, "draw": "initial", "refused": 0, "last_refused": [], "forced": false, "nearest_trial": null, "nearest_is_pending": false, "distance": null, "estimate": null, "neighbourhood": 1, "acceptance": 1.0, "parent": null, "expected_share": null}', 'diverged', NULL, NULL, 1, 2, '463713cd331ba125823aa5ea16907efb', 1795051480624, 1795051479623, 1795051479630);
INSERT INTO public.trials VALUES (8, 1, 7, '{"lr": 0.338740653486, "width": 24, "rule": "kfac", "size": "narrow"}', '5bb9a0e154db15fd6a90bd6e3402db3d4ce4abcc636619cee060df169d1a11d5', 2159311904508941, '{"strategy": "biased_random", "watermark": 7, "draw": "initial", "refused": 0, "last_refused": [], "forced": false, "nearest_trial": null, "nearest_is_pending": false, "distance": null, "estimate": null, "neighbourhood": 1, "acceptance": 1.0, "parent": null, "expected_share": null}', 'failed', 'out_of_memory', NULL, 2, 2, '99912dde2cedc2db881c0946c05d284a', 1795051480651, 1795051479638, 1795051479662);
INSERT INTO public.trials VALUES (9, 1, 8, '{"lr": 0.000771714895962, "width": 56, "rule": "kfac", "size": "wide"}', '6d4641afedb1b71f2ec721bc004db6a1c39a6e136b298b98c2144f23bc8bb8ea', 2968957234454642, '{"strategy": "biased_random", "watermark": 8, "draw": "uniform", "refused": 0, "last_refused": [], "forced": false, "nearest_trial": 1, "nearest_is_pending": false, "distance": 0.19274263883931103, "estimate": 0.6, "neighbourhood": 1, "acceptance": 0.7403017894104497, "parent": null, "expected_share": null}', 'succeeded', NULL, 0.9, 1, 2, '16231d46c7c6649e8bde8d17e23843b3', 1795051480673, 1795051479672, 1795051479681);
INSERT INTO public.trials VALUES (10, 1, 9, '{"lr": 0.000666400528616, "width": 40, "rule": "sgd", "size": "wide", "nesterov": false}', '9beba99e69df74b3c8e025ffe6288946f46571f40e0a78f701c1f266f8c25f82', 6506242002484145, '{"strategy": "biased_random", "watermark": 9, "draw": "uniform", "refused": 0, "last_refused": [], "forced": false, "nearest_trial": 2, "nearest_is_pending": false, "distance": 1.085953155500766, "estimate": 0.7, "neighbourhood": 1, "acceptance": 0.5547185761843235, "parent": null, "expected_share": null}', 'succeeded', NULL, 0.7, 3, 3, '8c23cdb739143dcc1983c518401fe72f', 1795051483224, 1795051479692, 1795051482248);
INSERT INTO public.trials VALUES (11, 2, 0, '{"x": 0.813354060979}', '69924794c4ff764b71e49b59be3879fc0d97dc2efd8d87b7ccb805ed14fe85a7', 5854950545185455, '{"strategy": "random", "watermark": 0, "draw": "uniform", "refused": 0, "last_refused": [], "forced": false, "nearest_trial": null, "nearest_is_pending": false, "distance": null, "estimate": null, "neighbourhood": 1, "acceptance": 1.0, "parent": null, "expected_share": null}', 'succeeded', NULL, 0.5, 1, 3, '56693fc73644f33ed3b15d301e0c0fea', 1795051483274, 1795051482272, 1795051482290);
INSERT INTO public.trials VALUES (12, 2, 1, '{"x": 0.0751511510959}', 'ba4c71058e02141e93b19efa62c82428e536130cd05d2f9a589edd56231f660f', 7554410117382319, '{"strategy": "random", "watermark": 1, "draw": "uniform", "refused": 0, "last_refused": [], "forced": false, "nearest_trial": null, "nearest_is_pending": false, "distance": null, "estimate": null, "neighbourhood": 1, "acceptance": 1.0, "parent": null, "expected_share": null}', 'succeeded', NULL, 0.4, 1, 3, '3f8890677bf3c685d276a3b6ff5f1211', 1795051483301, 1795051482299, 1795051482307);
INSERT INTO public.trials VALUES (13, 3, 0, '{"a": false, "b": false}', '10eb12861546e953ae8fdadc2b6558461b5af6d790929d081c21743622e4d86b', 5854950545185455, '{"strategy": "grid", "watermark": 0, "draw": "grid", "refused": 0, "last_refused": [], "forced": false, "nearest_trial": null, "nearest_is_pending": false, "distance": null, "estimate": null, "neighbourhood": 1, "acceptance": 1.0, "parent": null, "expected_share": null}', 'succeeded', NULL, 0.1, 1, 3, '4efaae9cf88f4233d090e3966030377e', 1795051483322, 1795051482320, 1795051482329);
INSERT INTO public.trials VALUES (14, 3, 1, '{"a": false, "b": true}', 'fa59f59e6d51fd60bca1fdde5b90378aac933deaba6ca6a1211cecc86cebc166', 7554410117382319, '{"strategy": "grid", "watermark": 1, "draw": "grid", "refused": 0, "last_refused": [], "forced": false, "nearest_trial": null, "nearest_is_pending": false, "distance": null, "estimate": null, "neighbourhood": 1, "acceptance": 1.0, "parent": null, "expected_share": null}', 'succeeded', NULL, 0.2, 1, 3, '55b640f25ef9ac163144547f794b13cb', 1795051483338, 1795051482337, 1795051482345);
INSERT INTO public.trials VALUES (15, 3, 2, '{"a": true, "b": false}', 'cf5ce5d22cc0da3c5aa620a9652583597ad367d1e69a668b4ddceecaf010d5a8', 3632089929981814, '{"strategy": "grid", "watermark": 2, "draw": "grid", "refused": 0, "last_refused": [], "forced": false, "nearest_trial": null, "nearest_is_pending": false, "distance": null, "estimate": null, "neighbourhood": 1, "acceptance": 1.0, "parent": null, "expected_share": null}', 'succeeded', NULL, 0.3, 1, 3, 'e5348452468f558a8096f029e59bee22', 1795051483355, 1795051482353, 1795051482361);
INSERT INTO public.trials VALUES (16, 3, 3, '{"a": true, "b": true}', '4947bff777a27a43600a4dfdcafa492208495c601a59f8cc3728ce700119fc9b', 4712910346481374, '{"strategy": "grid", "watermark": 3, "draw": "grid", "refused": 0, "last_refused": [], "forced": false, "nearest_trial": null, "nearest_is_pending": false, "distance": null, "estimate": null, "neighbourhood": 1, "acceptance": 1.0, "parent": null, "expected_share": null}', 'succeeded', NULL, 0.4, 1, 3, '2ff06745571a81778f4dd5ef88803b23', 1795051483371, 1795051482369, 1795051482376);
INSERT INTO public.trials VALUES (17, 4, 0, '{"x": 0.32489336154}', 'e75ca5716a6f3d99cb494caea8a06090c2bbfbdaf45178ea91fe460659f17d95', 5854950545185455, '{"strategy": "quasi_random", "watermark": 0, "draw": "quasi_random", "refused": 0, "last_refused": [], "forced": false, "nearest_trial": null, "nearest_is_pending": false, "distance": null, "estimate": null, "neighbourhood": 1, "acceptance": 1.0, "parent": null, "expected_share": null}', 'succeeded', NULL, 0.5, 1, 3, 'a96619596b1b52aad6afb71b231ca9fe', 1795051484006, 1795051483004, 1795051483030);
INSERT INTO public.trials VALUES (18, 5, 0, '{"x": 0.813354060979}', '69924794c4ff764b71e49b59be3879fc0d97dc2efd8d87b7ccb805ed14fe85a7', 5854950545185455, '{"strategy": "biased_random", "watermark": 0, "draw": "initial", "refused": 0, "last_refused": [], "forced": false, "nearest_trial": null, "nearest_is_pending": false, "distance": null, "estimate": null, "neighbourhood": 1, "acceptance": 1.0, "parent": null, "expected_share": null}', 'succeeded', NULL, 0.5, 1, 3, 'ed41f0863990ab8dc8d7da0e0b091908', 1795051484052, 1795051483051, 1795051483058);
INSERT INTO public.trials VALUES (19, 5, 1, '{"x": 0.0751511510959}', 'ba4c71058e02141e93b19efa62c82428e536130cd05d2f9a589edd56231f660f', 7554410117382319, '{"strategy": "biased_random", "watermark": 1, "draw": "uniform", "refused": 0, "last_refused": [], "forced": false, "nearest_trial": 0, "nearest_is_pending": false, "distance": 0.7382029098831, "estimate": 0.5, "neighbourhood": 1, "acceptance": 1.0, "parent": null, "expected_share": null}', 'succeeded', NULL, 0.4, 1, 3, 'ef1da5013cff6582099ae012f2e4edd1', 1795051484087, 1795051483084, 1795051483104);
INSERT INTO public.trials VALUES (20, 5, 2, '{"x": 0.0812979396687}', 'cc10abb546d3ae1d0991691a34b0236ee2f35c12971aec47a74602dc035c5769', 3632089929981814, '{"strategy": "biased_random", "watermark": 2, "draw": "uniform", "refused": 1, "last_refused": [{"config": {"x": 0.547685579295}, "nearest_trial": 0, "estimate": 0.5, "acceptance": 0.0}], "forced": false, "nearest_trial": 1, "nearest_is_pending": false, "distance": 0.006146788572800002, "estimate": 0.4, "neighbourhood": 1, "acceptance": 1.0, "parent": null, "expected_share": null}', 'succeeded', NULL, 0.3, 1, 3, '5fcd6bff6322e1caaf37d7199e29f239', 1795051484121, 1795051483120, 1795051483137);
INSERT INTO public.trials VALUES (21, 6, 0, '{"x": 0.0}', '306e4750ee8b575278c968fd63668192aeba456e5e47da97ed835e2d498ef9cf', 5854950545185455, '{"strategy": "grid", "watermark": 0, "draw": "grid", "refused": 0, "last_refused": [], "forced": false, "nearest_trial": null, "nearest_is_pending": false, "distance": null, "estimate": null, "neighbourhood": 1, "acceptance": 1.0, "parent": null, "expected_share": null}', 'succeeded', NULL, 0.5, 1, 3, '7b11d94fc2c9e7ff049441f49036ffe2', 1795051484151, 1795051483150, 1795051483164);
INSERT INTO public.trials VALUES (22, 6, 1, '{"x": 1.0}', 'bf32f56236899e13ef54db875d136c6cbcc65244464829c54911aa9069b0ae25', 7554410117382319, '{"strategy": "grid", "watermark": 1, "draw": "grid", "refused": 0, "last_refused": [], "forced": false, "nearest_trial": null, "nearest_is_pending": false, "distance": null, "estimate": null, "neighbourhood": 1, "acceptance": 1.0, "parent": null, "expected_share": null}', 'succeeded', NULL, 0.4, 1, 3, '66dbb995b87d1ab3291e072bdff2accc', 1795051484175, 1795051483174, 1795051483185);
INSERT INTO public.trials VALUES (23, 6, 2, '{"x": 0.666666666667}', 'af6ac5db060a5f048eb29b8fb9e6245bba4cde3d354852f82a862c46c3ab5788', 3632089929981814, '{"strategy": "grid", "watermark": 2, "draw": "grid", "refused": 0, "last_refused": [], "forced": false, "nearest_trial": null, "nearest_is_pending": false, "distance": null, "estimate": null, "neighbourhood": 1, "acceptance": 1.0, "parent": null, "expected_share": null}', 'succeeded', NULL, 0.3, 1, 3, '5bb7ea63186be8c82a6dce1bbd9114f9', 1795051484195, 1795051483194, 1795051483203);
INSERT INTO public.trials VALUES (24, 7, 0, '{"x": 0.813354060979}', '69924794c4ff764b71e49b59be3879fc0d97dc2efd8d87b7ccb805ed14fe85a7', 5854950545185455, '{"strategy": "biased_random", "watermark": 0, "draw": "initial", "refused": 0, "last_refused": [], "forced": false, "nearest_trial": null, "nearest_is_pending": false, "distance": null, "estimate": null, "neighbourhood": 1, "acceptance": 1.0, "parent": null, "expected_share": null}', 'failed', 'attempts_used_up', NULL, 1, 1, '26b23cedfa2541084ae1c75eaad75da8', 1795051484225, 1795051483224, 1795051485734);
INSERT INTO public.trials VALUES (25, 1, 10, '{"lr": 0.013617396429, "width": 56, "rule": "kfac", "size": "wide"}', '3bd151e840b81574ef6eb7ded882dd655b4d9ebd431b9e1b3d38a64ee6786ff7', 6314891083002266, '{"strategy": "biased_random", "watermark": 10, "draw": "uniform", "refused": 1, "last_refused": [{"config": {"lr": 0.014320276897, "width": 8, "rule": "kfac", "size": "wide"}, "nearest_trial": 5, "estimate": 1.0, "acceptance": 0.03114186851211071}], "forced": false, "nearest_trial": 8, "nearest_is_pending": false, "distance": 0.3116592993858247, "estimate": 0.9, "neighbourhood": 1, "acceptance": 0.12456747404844284, "parent": null, "expected_share": null}', 'running', NULL, NULL, 1, 2, 'b9030e73bbd914c22912450f759bb11c', 1795051486776, 1795051485753, NULL);
SELECT pg_catalog.setval('public.clock_id_seq', 1, false);
SELECT pg_catalog.setval('public.studies_id_seq', 7, true);
SELECT pg_catalog.setval('public.trials_id_seq', 25, true);
ALTER TABLE ONLY public.alembic_version
    ADD CONSTRAINT alembic_version_pkc PRIMARY KEY (version_num);
ALTER TABLE ONLY public.attempts
    ADD CONSTRAINT attempts_lease_id_unique UNIQUE (lease_id);
ALTER TABLE ONLY public.attempts
    ADD CONSTRAINT attempts_pk PRIMARY KEY (trial_id, number);
ALTER TABLE ONLY public.attempts
    ADD CONSTRAINT attempts_worker_incarnation_request_id_unique UNIQUE (worker, incarnation, request_id);
ALTER TABLE ONLY public.clock
    ADD CONSTRAINT clock_pk PRIMARY KEY (id);
ALTER TABLE ONLY public.observations
    ADD CONSTRAINT observations_pk PRIMARY KEY (study_id, seq);
ALTER TABLE ONLY public.reports
    ADD CONSTRAINT reports_pk PRIMARY KEY (trial_id, attempt, first_step);
ALTER TABLE ONLY public.studies
    ADD CONSTRAINT studies_name_unique UNIQUE (name);
ALTER TABLE ONLY public.studies
    ADD CONSTRAINT studies_pk PRIMARY KEY (id);
ALTER TABLE ONLY public.trials
    ADD CONSTRAINT trials_pk PRIMARY KEY (id);
ALTER TABLE ONLY public.trials
    ADD CONSTRAINT trials_study_id_config_key_unique UNIQUE (study_id, config_key);
ALTER TABLE ONLY public.trials
    ADD CONSTRAINT trials_study_id_number_unique UNIQUE (study_id, number);
CREATE INDEX trials_by_loss ON public.trials USING btree (study_id, loss, number) WHERE ((state)::text = 'succeeded'::text);
CREATE INDEX trials_to_lease ON public.trials USING btree (free_at, id) WHERE ((state)::text = ANY ((ARRAY['queued'::character varying, 'running'::character varying])::text[]));
ALTER TABLE ONLY public.attempts
    ADD CONSTRAINT attempts_trial_id_fk FOREIGN KEY (trial_id) REFERENCES public.trials(id);
ALTER TABLE ONLY public.observations
    ADD CONSTRAINT observations_study_id_fk FOREIGN KEY (study_id) REFERENCES public.studies(id);
ALTER TABLE ONLY public.reports
    ADD CONSTRAINT reports_trial_id_fk FOREIGN KEY (trial_id) REFERENCES public.trials(id);
ALTER TABLE ONLY public.trials
    ADD CONSTRAINT trials_study_id_fk FOREIGN KEY (study_id) REFERENCES public.studies(id);
