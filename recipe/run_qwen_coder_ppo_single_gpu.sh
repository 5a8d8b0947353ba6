#!/usr/bin/env bash
# The tutorial's run: PPO of Qwen2.5-Coder-0.5B-Instruct on one GPU, by the tutorial's environment variables.
# What is not set is as in the preset single-gpu-0.5b.  Further words go to `code-rlvr train`; after --, to verl itself.
set -euo pipefail
words=()
set_from() { [ -z "${!1:-}" ] || words+=("$2=${!1}"); }  # VARIABLE setting
set_from MODEL_PATH model
set_from CRITIC_MODEL_PATH critic.model
set_from NNODES trainer.nodes
set_from NDEVICES_PER_NODE trainer.gpus_per_node
set_from TRAIN_BATCH_SIZE trainer.batch
set_from PPO_MINI_BATCH_SIZE actor.mini_batch
set_from MAX_PROMPT_LENGTH data.max_prompt_tokens
set_from MAX_RESPONSE_LENGTH data.max_response_tokens
set_from ACTOR_LR actor.lr
set_from CRITIC_LR critic.lr
set_from ROLLOUT_TP rollout.tensor_parallel
set_from ROLLOUT_GPU_MEM_UTIL rollout.gpu_memory_share
set_from ROLLOUT_N rollout.samples_per_prompt
set_from TOTAL_EPOCHS trainer.epochs
set_from SAVE_FREQ trainer.save_every
set_from TEST_FREQ trainer.validate_every
set_from EXPERIMENT_NAME name
set_from REWARD_FILE reward.file
exec code-rlvr train --preset single-gpu-0.5b "data.train_file=${TRAIN_FILE:-data/eurus/train.parquet}" \
  "data.validation_file=${VAL_FILE:-data/eurus/validation.parquet}" "${words[@]}" "$@"
